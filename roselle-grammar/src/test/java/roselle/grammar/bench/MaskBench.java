package roselle.grammar.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.mask.TokenMask;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.TokenMatcher;
import roselle.grammar.mask.Vocabulary;
import roselle.grammar.schema.SchemaOptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs MaskBench: {@code MaskBench DATA RANKS FILES}, where the last lists names of schemas or is their number. Every valid instance
 * must be accepted to its end token by token, every invalid one refused. Tells what goes wrong on the standard error, and prints a line
 * of JSON as {@code tools/structured/peers.py} does: counts, and percentiles of masks and of compiling in this thread's processor time.
 */
public final class MaskBench {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final int WARM_UP = 150;

    /** Of texts that are there already, which no engine waits for. */
    private static final GrammarLimits CHECKING = new GrammarLimits(4 << 20, 320_000, 320_000, 320_000, 600_000);

    private static final double[] PERCENTILES = {50, 75, 90, 99, 99.9, 100};
    private static final String[] NAMES = {"p50", "p75", "p90", "p99", "p99.9", "max"};

    private final QwenTokenizer tokenizer;
    private final Vocabulary vocabulary;
    private long[] maskNanos = new long[1 << 20];
    private int masks;
    private long[] compileNanos = new long[1 << 14];
    private int compiled;
    private int schemas;
    private int withTests;
    private int right;
    private int refused;
    private int narrow;
    private int wide;
    private int valid;
    private int invalid;
    private int invalidAccepted;
    private final int[][] variants = new int[4][2];

    private MaskBench(Path ranks) throws IOException {
        this.tokenizer = new QwenTokenizer(ranks);
        this.vocabulary = tokenizer.vocabulary();
    }

    public static void main(String[] arguments) throws IOException {
        MaskBench bench = new MaskBench(Path.of(arguments[1]));
        List<Path> files;
        try (Stream<Path> all = Files.list(Path.of(arguments[0]))) {
            files = all.sorted(
                            Comparator.comparing(file -> hash(file.getFileName().toString())))
                    .toList();
        }
        List<Path> chosen = arguments[2].matches("[0-9]+")
                ? files.subList(0, Math.min(files.size(), Integer.parseInt(arguments[2])))
                : Files.readAllLines(Path.of(arguments[2])).stream()
                        .map(name -> Path.of(arguments[0], name))
                        .toList();
        for (Path file : files.subList(Math.max(0, files.size() - WARM_UP), files.size())) {
            bench.run(file, false); // the JVM is warm behind them
        }
        bench.forget();
        for (Path file : chosen) {
            bench.run(file, true);
        }
        bench.print();
    }

    private static String hash(String name) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private void forget() {
        masks = compiled =
                schemas = withTests = right = refused = narrow = wide = valid = invalid = invalidAccepted = 0;
        for (int[] variant : variants) {
            Arrays.fill(variant, 0);
        }
    }

    private void run(Path file, boolean isTold) throws IOException {
        JsonNode node = JsonMapper.shared().readTree(Files.readString(file));
        JsonNode tests = node.get("tests");
        schemas++;
        withTests += tests.isEmpty() ? 0 : 1;
        String name = file.getFileName().toString();
        String schema = node.get("schema").toString();
        long before = CLOCK.getCurrentThreadCpuTime();
        TokenMasks constraint;
        try {
            constraint = new TokenMasks(
                    Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS), vocabulary);
            constraint.matcher().mask(); // the engine compiles with the first mask
        } catch (GrammarException refusal) {
            boolean isRight = refusal.reason() == GrammarException.Reason.EMPTY && allInvalid(tests);
            right += isRight && !tests.isEmpty() ? 1 : 0;
            refused += isRight ? 0 : 1;
            if (isTold) {
                System.err.println(name + " refused: " + refusal.getMessage());
            }
            return;
        } catch (RuntimeException | StackOverflowError fault) {
            refused++;
            System.err.println(name + " FAULT " + fault + Arrays.toString(Arrays.copyOf(fault.getStackTrace(), 3)));
            return;
        }
        long compileTime = CLOCK.getCurrentThreadCpuTime() - before;
        compileNanos[compiled++] = compileTime;
        if (isTold && compileTime > 30_000_000) {
            System.err.println(name + " SLOW COMPILE " + compileTime / 1_000_000 + " ms");
        }
        try {
            judge(name, tests, constraint, schema, isTold);
        } catch (GrammarException refusal) {
            refused++;
            if (isTold) {
                System.err.println(name + " refused while running: " + refusal.getMessage());
            }
        } catch (RuntimeException | StackOverflowError fault) {
            refused++;
            System.err.println(name + " FAULT " + fault + Arrays.toString(Arrays.copyOf(fault.getStackTrace(), 3)));
        }
    }

    private static boolean allInvalid(JsonNode tests) {
        for (JsonNode test : tests) {
            if (test.get("valid").booleanValue()) {
                return false;
            }
        }
        return true;
    }

    private void judge(String name, JsonNode tests, TokenMasks constraint, String schema, boolean isTold) {
        boolean isNarrow = false;
        boolean isWide = false;
        Constraint checking = null;
        Constraint writing = null;
        for (JsonNode test : tests) {
            boolean isValid = test.get("valid").booleanValue();
            String text = JsonSpelling.of(test.get("data"), JsonSpelling.Style.PLAIN);
            String fault = accept(constraint, text, name, isTold);
            valid += isValid ? 1 : 0;
            invalid += isValid ? 0 : 1;
            if (fault.startsWith("\0")) {
                isWide = isNarrow = true;
                System.err.println(name + " MASK AND STATE DIFFER " + fault);
            } else if (isValid && !fault.isEmpty()) {
                isNarrow = true;
                if (isTold) {
                    System.err.println(name + " TOO NARROW " + fault);
                }
            } else if (!isValid && fault.isEmpty()) {
                isWide = true;
                invalidAccepted++;
                if (isTold) {
                    System.err.println(name + " TOO WIDE " + (text.length() > 300 ? text.substring(0, 300) : text));
                }
            } else if (isValid) {
                checking =
                        checking == null ? Constraints.jsonSchema(schema, SchemaOptions.CHECKING, CHECKING) : checking;
                writing = writing == null
                        ? Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS)
                        : writing;
                vary(name, test.get("data"), text, checking, writing);
            }
        }
        narrow += isNarrow ? 1 : 0;
        wide += isWide ? 1 : 0;
        right += tests.isEmpty() || isNarrow || isWide ? 0 : 1;
    }

    private void vary(String name, JsonNode data, String plain, Constraint checking, Constraint writing) {
        JsonSpelling.Style[] styles = {JsonSpelling.Style.PRETTY, JsonSpelling.Style.SHUFFLED, JsonSpelling.Style.ASCII
        };
        for (int i = 0; i < styles.length; i++) {
            count(variants[i], name + " " + styles[i], checking, JsonSpelling.of(data, styles[i]), plain);
        }
        count(variants[3], name + " PRETTY AS WRITTEN", writing, JsonSpelling.of(data, styles[0]), plain);
    }

    private static void count(int[] variant, String what, Constraint constraint, String text, String plain) {
        if (!text.equals(plain)) {
            variant[1]++;
            String said = TestSuite.accepts(constraint, text);
            variant[0] += said.equals("yes") ? 1 : 0;
            if (!said.equals("yes")) {
                System.err.println(what + " " + said);
            }
        }
    }

    /** Empty if the text is accepted to its end; else why not. */
    private String accept(TokenMasks constraint, String text, String name, boolean isTold) {
        TokenMatcher matcher = constraint.matcher();
        int[] tokens = tokenizer.encode(text);
        for (int i = 0; i < tokens.length; i++) {
            TokenMask mask = timed(matcher, name, isTold);
            boolean isAllowed = mask.allows(tokens[i]);
            if (isAllowed != matcher.advance(tokens[i])) {
                return "\0 at token " + i + " of " + text;
            }
            if (!isAllowed) {
                return told(tokens, i);
            }
        }
        boolean mayEnd = timed(matcher, name, isTold).allows(QwenTokenizer.END);
        return mayEnd ? "" : told(tokens, tokens.length);
    }

    private String told(int[] tokens, int at) {
        StringBuilder text = new StringBuilder();
        for (int i = Math.max(0, at - 40); i < Math.min(tokens.length, at + 3); i++) {
            text.append(i == at ? " >>>" : "").append(tokenizer.text(tokens[i]));
        }
        return text.toString();
    }

    private TokenMask timed(TokenMatcher matcher, String name, boolean isTold) {
        long before = CLOCK.getCurrentThreadCpuTime();
        TokenMask mask = matcher.mask();
        long time = CLOCK.getCurrentThreadCpuTime() - before;
        if (masks == maskNanos.length) {
            maskNanos = Arrays.copyOf(maskNanos, 2 * masks);
        }
        maskNanos[masks++] = time;
        if (isTold && time > 10_000_000) {
            System.err.println(name + " SLOW MASK " + time / 1000 + " us");
        }
        return mask;
    }

    private void print() {
        System.out.printf(
                Locale.ROOT,
                "{\"engine\": \"roselle\", \"schemas\": %d, \"withTests\": %d, \"right\": %d, \"refused\": %d, \"tooNarrow\": %d,"
                        + " \"tooWide\": %d, \"valid\": %d, \"invalid\": %d, \"invalidAccepted\": %d,"
                        + " \"variants\": {\"pretty\": %s, \"shuffled\": %s, \"escaped\": %s, \"pretty as written\": %s},"
                        + " \"maskMicros\": %s, \"compileMillis\": %s}%n",
                schemas,
                withTests,
                right,
                refused,
                narrow,
                wide,
                valid,
                invalid,
                invalidAccepted,
                Arrays.toString(variants[0]),
                Arrays.toString(variants[1]),
                Arrays.toString(variants[2]),
                Arrays.toString(variants[3]),
                percentiles(maskNanos, masks, 1_000),
                percentiles(compileNanos, compiled, 1_000_000));
    }

    private static String percentiles(long[] times, int count, double unit) {
        long[] sorted = Arrays.copyOf(times, count);
        Arrays.sort(sorted);
        StringBuilder line = new StringBuilder("{\"count\": " + count);
        double mean = Arrays.stream(sorted).average().orElse(0) / unit;
        line.append(String.format(Locale.ROOT, ", \"mean\": %.2f", mean));
        for (int i = 0; i < PERCENTILES.length && count > 0; i++) {
            int at = Math.min(count - 1, (int) (count * PERCENTILES[i] / 100));
            line.append(String.format(Locale.ROOT, ", \"%s\": %.2f", NAMES[i], sorted[at] / unit));
        }
        return line.append('}').toString();
    }
}
