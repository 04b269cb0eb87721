package roselle.grammar.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.State;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.TokenMatcher;
import roselle.grammar.mask.Vocabulary;
import roselle.grammar.schema.SchemaOptions;

/**
 * What a new process pays for its first answers under a schema, and what a mask costs that is known: {@code MaskCosts RANKS} prints CSV,
 * in this thread's processor time. Each answer has a schema that none before had; the known masks are those of its states, in turn.
 */
public final class MaskCosts {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final int ANSWERS = 1000;
    private static final Set<Integer> TOLD = Set.of(1, 2, 5, 10, 20, 50, 100, 200, 500, ANSWERS);
    private static final int ROUNDS = 15;
    private static final int TIMES = 20_000;

    private MaskCosts() {}

    public static void main(String[] arguments) throws IOException {
        QwenTokenizer tokenizer = new QwenTokenizer(Path.of(arguments[0]));
        long before = CLOCK.getCurrentThreadCpuTime();
        Vocabulary vocabulary = tokenizer.vocabulary();
        System.out.println("what,\"compile, ms\",\"first mask, us\",\"mean mask, us\",\"largest, us\"");
        System.out.printf(Locale.ROOT, "vocabulary,%.1f,,,%n", (CLOCK.getCurrentThreadCpuTime() - before) / 1e6);
        List<State> states = new ArrayList<>();
        TokenMasks masks = null;
        for (int answer = 1; answer <= ANSWERS; answer++) {
            before = CLOCK.getCurrentThreadCpuTime();
            masks = new TokenMasks(
                    Constraints.jsonSchema(schema(answer), SchemaOptions.GENERATING, GrammarLimits.DEFAULTS),
                    vocabulary);
            long compile = CLOCK.getCurrentThreadCpuTime() - before;
            states = answer(masks, tokenizer.encode(text(answer)), answer, compile);
        }
        known(masks, states.toArray(State[]::new));
    }

    private static String text(int answer) {
        return "{\"name\": \"An example of " + answer + "\", \"tags\": [\"red\", \"green and blue\"], \"size\": 12.5,"
                + " \"kind\": \"small\", \"at\": {\"line\": 17, \"note\": \"no more than that\"}}";
    }

    private static String schema(int answer) {
        return "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"name\",\"kind\"],\"properties\":{"
                + "\"name\":{\"type\":\"string\",\"maxLength\":" + (30 + answer) + "},"
                + "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":\"^[a-z ]+$\"},\"maxItems\":"
                + (3 + answer)
                + "},\"size\":{\"type\":\"number\",\"minimum\":0},"
                + "\"kind\":{\"enum\":[\"small\",\"large" + answer + "\"]},"
                + "\"at\":{\"type\":\"object\",\"properties\":{\"line\":{\"type\":\"integer\"},\"note\":{\"type\":\"string\"}}}}}";
    }

    private static List<State> answer(TokenMasks masks, int[] tokens, int answer, long compile) {
        TokenMatcher matcher = masks.matcher();
        List<State> states = new ArrayList<>();
        long first = 0;
        long sum = 0;
        long most = 0;
        for (int i = 0; i <= tokens.length; i++) {
            long before = CLOCK.getCurrentThreadCpuTime();
            matcher.mask();
            long time = CLOCK.getCurrentThreadCpuTime() - before;
            first = i == 0 ? time : first;
            sum += time;
            most = Math.max(most, time);
            states.add(matcher.state());
            if (i < tokens.length && !matcher.advance(tokens[i])) {
                throw new IllegalStateException("token " + i + " of answer " + answer + " is not allowed");
            }
        }
        String line = String.format(
                Locale.ROOT,
                "answer %d,%.2f,%.0f,%.1f,%.0f",
                answer,
                compile / 1e6,
                first / 1e3,
                sum / 1e3 / states.size(),
                most / 1e3);
        if (TOLD.contains(answer)) {
            System.out.println(line);
        }
        return states;
    }

    private static void known(TokenMasks masks, State[] states) {
        double[] nanos = new double[ROUNDS];
        long allowed = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long before = CLOCK.getCurrentThreadCpuTime();
            for (int i = 0; i < TIMES; i++) {
                for (State state : states) {
                    allowed += masks.mask(state).id();
                }
            }
            nanos[round] = (double) (CLOCK.getCurrentThreadCpuTime() - before) / TIMES / states.length;
        }
        Arrays.sort(nanos);
        System.out.printf(Locale.ROOT, "known mask of %d states,,,%.4f,%n", states.length, nanos[ROUNDS / 2] / 1e3);
        if (allowed < 0) {
            throw new IllegalStateException();
        }
    }
}
