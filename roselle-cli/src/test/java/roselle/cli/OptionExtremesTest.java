package roselle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import roselle.hub.BundledModel;

/**
 * Every option that takes a number, at the least and the greatest values of its type and of its own range: the command does what it
 * is for and ends well, or it refuses the value in a sentence. Every option that takes a file, with what is none.
 */
@Tag("long")
final class OptionExtremesTest {
    private static final List<String> NUMBERS = List.of(
            "0", "1", "-1", "2147483646", "2147483647", "99999999999", "9223372036854775806", "9223372036854775807");

    private static final Set<Class<?>> WHOLE = Set.of(int.class, long.class, Integer.class, Long.class);
    private static final Set<Class<?>> BROKEN = Set.of(double.class, float.class, Double.class, Float.class);

    /** The range that a refusal names. */
    private static final Pattern RANGE = Pattern.compile("between (-?[0-9]+) and ([0-9]+)");

    private static final Pattern LEAST = Pattern.compile("at least (-?[0-9]+)");

    /** A port that is taken or not ours, and memory that is not there: those are no misuse, and have a status of their own. */
    private static final Pattern UNAVAILABLE = Pattern.compile("cannot be listened on|a context of [0-9]+ tokens");

    /** With what another implementation computed beside it. */
    private static final Path TINY = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");

    /** Options that name a folder, where the others name a file. */
    private static final Set<String> FOLDERS = Set.of("serve --lora-folder", "serve --batch-folder");

    @TempDir
    private static Path folder;

    private static Path model;
    private static Thread.UncaughtExceptionHandler handler;

    /** What a command needs beside the option that is tried; the first word is its name. */
    private static final Map<String, List<String>> COMMANDS = Map.of(
            "serve", List.of("serve", "MODEL", "--port=0", "--no-black-box"),
            "run", List.of("run", "MODEL", "--max-tokens=2", "Hi"),
            "verify", List.of("verify", "TINY"),
            "bench model", List.of("bench", "model", "MODEL", "--prompt-tokens=2", "--new-tokens=2", "--repetitions=1"),
            "pull", List.of("pull", "roselle/none", "--offline"),
            "key", List.of("key", "KEYS", "alice"));

    private record Outcome(int status, String err) {}

    @BeforeAll
    static void prepare() throws IOException {
        model = BundledModel.DEMO.unpackInto(folder);
        handler = Thread.getDefaultUncaughtExceptionHandler();
    }

    @AfterAll
    static void restore() {
        Thread.setDefaultUncaughtExceptionHandler(handler);
    }

    private static Stream<OptionSpec> options(String command) {
        String[] words = command.split(" ");
        CommandSpec specification = Subcommand.ALL.stream()
                .filter(each -> each.name().equals(words[0]))
                .findFirst()
                .orElseThrow()
                .open();
        for (String word : List.of(words).subList(1, words.length)) {
            specification = Objects.requireNonNull(specification.subcommands().get(word))
                    .getCommandSpec();
        }
        return specification.options().stream();
    }

    private static Stream<String> named(Set<Class<?>> types) {
        return COMMANDS.keySet().stream()
                .sorted()
                .flatMap(command -> options(command)
                        .filter(option -> types.contains(option.type()))
                        .map(option -> command + " " + option.longestName()));
    }

    static Stream<String> numbers() {
        return Stream.concat(named(WHOLE), named(BROKEN));
    }

    static Stream<String> files() {
        return named(Set.of(Path.class));
    }

    @ParameterizedTest
    @MethodSource("numbers")
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void atItsBoundsIsObeyedOrRefused(String option) throws Exception {
        var values = new LinkedHashSet<>(NUMBERS);
        for (String value : NUMBERS) {
            Outcome outcome = check(option, value);
            values.addAll(bounds(outcome.err()));
        }
        values.removeAll(NUMBERS);
        for (String value : values) {
            check(option, value);
        }
    }

    /** The bounds that a sentence names, and the numbers within and beyond them. */
    private static List<String> bounds(String sentence) {
        var bounds = new ArrayList<String>();
        Matcher range = RANGE.matcher(sentence);
        while (range.find()) {
            long most = Long.parseLong(range.group(2));
            bounds.addAll(List.of(range.group(1), "" + (most - 1), "" + most, "" + (most + 1)));
        }
        Matcher least = LEAST.matcher(sentence);
        while (least.find()) {
            bounds.add(least.group(1));
        }
        return bounds;
    }

    @ParameterizedTest
    @MethodSource("files")
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void whereThereIsNoFileIsRefused(String option) throws Exception {
        var none = new ArrayList<>(
                List.of(folder.resolve("missing").toString(), wrongKind(option).toString()));
        if (Files.exists(Path.of("/dev/zero"))) {
            none.add("/dev/zero");
        }
        for (String value : none) {
            Outcome outcome = execute(option, value);
            assertThat(outcome.status())
                    .as(option + " " + value + ": " + outcome.err())
                    .isIn(2, 65, 66, 74);
            requireSentence(option, value, outcome);
        }
    }

    /** A folder, or a file where a folder is meant. */
    private static Path wrongKind(String option) throws IOException {
        return FOLDERS.contains(option) ? Files.writeString(folder.resolve("file"), "x") : folder;
    }

    private static Outcome check(String option, String value) throws Exception {
        Outcome outcome = execute(option, value);
        String what = option + " " + value + ": " + outcome.err();
        if (outcome.status() == 69) {
            assertThat(UNAVAILABLE.matcher(outcome.err()).find()).as(what).isTrue();
        } else if (outcome.status() == 65) { // the prompt, or what is to follow it
            assertThat(outcome.err()).as(what).contains("but the context holds");
        } else {
            assertThat(outcome.status())
                    .as(what)
                    .isIn(option.equals("verify --tolerance") ? Set.of(0, 1, 2) : Set.of(0, 2));
        }
        requireSentence(option, value, outcome);
        return outcome;
    }

    private static void requireSentence(String option, String value, Outcome outcome) {
        String what = option + " " + value + ": " + outcome.err();
        boolean isJudged = outcome.status() == 1; // a model that is not verified, as the command's answer says
        assertThat(outcome.status() == 0 || isJudged || outcome.err().startsWith("roselle: "))
                .as(what)
                .isTrue();
        assertThat(outcome.err()).as(what).doesNotContain("Exception", "Error", "internal");
    }

    /** Runs a command to its end; a server is told to end as soon as it serves. */
    private static Outcome execute(String option, String value) throws Exception {
        int name = option.lastIndexOf(' ') + 1;
        String[] words = {option.substring(0, name - 1), option.substring(name)};
        String[] arguments = Stream.concat(
                        COMMANDS.getOrDefault(words[0], List.of()).stream()
                                .filter(word -> !word.startsWith(words[1] + "="))
                                .map(word -> word.equals("MODEL") ? model.toString() : word)
                                .map(word -> word.equals("TINY") ? TINY.toString() : word)
                                .map(word -> word.equals("KEYS") ? newFile().toString() : word),
                        Stream.of(words[1] + "=" + value))
                .toArray(String[]::new);
        var err = new StringWriter();
        int[] status = {-1};
        var runs = new Thread(() -> {
            var self = Thread.currentThread();
            var command =
                    Main.commandLine(arguments).setErr(new PrintWriter(err)).setOut(new PrintWriter(said(self)));
            status[0] = command.execute(arguments);
        });
        runs.start();
        runs.join();
        assertThat(status[0]).as(Arrays.toString(arguments) + " has ended").isNotNegative();
        return new Outcome(status[0], err.toString());
    }

    private static Path newFile() {
        return folder.resolve("keys" + System.nanoTime());
    }

    /** What a command says; a server that says that it serves is told to end. */
    private static StringWriter said(Thread server) {
        return new StringWriter() {
            @Override
            public void flush() {
                if (toString().startsWith("serving ")) {
                    server.interrupt();
                }
            }
        };
    }
}
