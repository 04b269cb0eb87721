package roselle.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.ref.Reference;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.automaton.State;
import roselle.grammar.schema.SchemaOptions;

/**
 * What strangers send to cost much is answered or refused within the budget of work, which 64 MB of allocated bytes bear out; no clock
 * is asked.
 */
class HostileTest {
    private static final long MAX_BYTES = 64L << 20;
    private static final long MAX_NANOS = 2_000_000_000;
    private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** What is sent. */
    enum Source {
        DEEP_ONE_OF(nested(i -> "{\"minimum\":" + i + "}", "{\"type\":\"integer\"}")),
        DEEP_ONE_OF_OBJECTS(nested(
                i -> "{\"properties\":{\"k" + i + "\":{\"type\":\"integer\"}},\"required\":[\"k" + i + "\"]}",
                "{\"type\":\"object\"}")),
        MAX_ITEMS("{\"type\":\"array\",\"maxItems\":9223372036854775808}"),
        MIN_ITEMS("{\"type\":\"array\",\"minItems\":9223372036854775807}"),
        UNIQUE_ITEMS("{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"integer\",\"minimum\":0,"
                + "\"maximum\":100000},\"minItems\":99999}"),
        MULTIPLE("{\"type\":\"integer\",\"multipleOf\":99999999977,\"minimum\":1}"),
        MAX_LENGTH("{\"type\":\"string\",\"maxLength\":2147483648}"),
        BACKTRACKING("{\"type\":\"string\",\"pattern\":\"(.*a){12}b\"}"),
        OPTIONAL("{\"type\":\"string\",\"pattern\":\"^(a?){50}a{50}$\"}"),
        REPEATED("{\"type\":\"string\",\"pattern\":\"(a{1,1000}){1,1000}x\"}"),
        COUNTING("{\"type\":\"string\",\"pattern\":\"^(?=.*a.{20}$)(?=.*b.{21}$)(?=.*c.{22}$).*$\"}"),
        LONG_PATTERN("{\"type\":\"string\",\"pattern\":\"" + "(a|b)".repeat(500_000) + "\"}"),
        MANY_PATTERNS("{\"type\":\"object\",\"patternProperties\":{"
                + list(40, i -> "\"a.{" + i + "}b\":{\"type\":\"integer\"}") + "}}"),
        REFERENCE_CYCLE(
                "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}"),
        REQUIRED_CYCLE("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}"),
        MANY_TEXTS("{\"enum\":[" + list(100_000, i -> "\"value-" + i * 7919L + "\"") + "]}"),
        MANY_NUMBERS("{\"enum\":[" + list(100_000, Integer::toString) + "]}"),
        MANY_OBJECTS("{\"enum\":[" + list(100_000, i -> "{\"v\":" + i + "}") + "]}"),
        MANY_PROPERTIES("{\"type\":\"object\",\"properties\":{"
                + list(75_000, i -> "\"property_" + i + "\":{\"type\":\"string\",\"maxLength\":" + i + "}") + "}}"),
        MANY_CHOICES("{\"type\":\"object\",\"minProperties\":1,\"anyOf\":["
                + list(200, i -> "{\"required\":[\"a" + i + "\",\"b" + i * 7 % 200 + "\"]}") + "]}"),
        LONG_REFERENCES("{\"$ref\":\"#/$defs/d0\",\"$defs\":{"
                + list(100_000, i -> "\"d" + i + "\":{\"$ref\":\"#/$defs/d" + (i + 1) + "\"}") + ",\"d100000\":{}}}"),
        BOTH_OF_MANY(
                "{\"allOf\":[" + list(3_000, i -> "{\"pattern\":\"a.{" + i % 50 + "}b\"}") + "],\"type\":\"string\"}"),
        DEEP("{\"not\":".repeat(500_000) + "{}" + "}".repeat(500_000)),
        LONG_TEXT("{\"description\":\"" + "x".repeat(4_000_000) + "\"}");

        private final String schema;

        Source(String schema) {
            this.schema = schema;
        }

        private static String list(int count, IntFunction<String> element) {
            return IntStream.range(0, count).mapToObj(element).collect(Collectors.joining(","));
        }

        private static String nested(IntFunction<String> other, String innermost) {
            String schema = innermost;
            for (int i = 0; i < 30; i++) {
                schema = "{\"oneOf\":[" + schema + "," + other.apply(i) + "]}";
            }
            return schema;
        }
    }

    @ParameterizedTest
    @EnumSource
    void isAnsweredOrRefusedWithinItsBudget(Source source) {
        compile("{}"); // classes are loaded behind it
        long before = THREADS.getCurrentThreadAllocatedBytes();
        compile(source.schema);
        assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(MAX_BYTES);
    }

    private static @Nullable Constraint compile(String schema) {
        try {
            Constraint constraint = Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS);
            State at = constraint.start();
            assertThat(at.isAccepting()).isFalse();
            return constraint;
        } catch (GrammarException refusal) {
            assertThat(refusal.reason()).isIn(Reason.BUDGET, Reason.EMPTY, Reason.UNSUPPORTED, Reason.INVALID);
            assertThat(refusal.getMessage()).isNotBlank();
            return null;
        }
    }

    /** What it takes on this machine, warm: printed, since no bound of time that holds everywhere tells much; aims are 100 ms and 64 MB. */
    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void costsLittleTimeAndMemory(Source source) {
        long nanos = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long before = THREADS.getCurrentThreadCpuTime();
            compile(source.schema);
            nanos = Math.min(nanos, THREADS.getCurrentThreadCpuTime() - before);
        }
        long before = usedBytes();
        Constraint kept = compile(source.schema);
        try {
            long bytes = usedBytes() - before;
            System.out.printf(
                    Locale.ROOT,
                    "%s: %s, %.1f ms, %.1f MB kept%n",
                    source,
                    kept == null ? "refused" : "answered",
                    nanos / 1e6,
                    bytes / 1e6);
            assertThat(bytes).isLessThan(2 * MAX_BYTES);
        } finally {
            Reference.reachabilityFence(kept);
        }
        assertThat(nanos).isLessThan(MAX_NANOS);
    }

    private static long usedBytes() {
        System.gc();
        return MEMORY.getHeapMemoryUsage().getUsed();
    }

    @ParameterizedTest
    @EnumSource(names = {"BACKTRACKING", "OPTIONAL", "REPEATED", "COUNTING", "MANY_TEXTS", "DEEP_ONE_OF"})
    void stepsKeepToTheirBudget(Source source) {
        Constraint constraint;
        try {
            constraint = Constraints.jsonSchema(source.schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS);
        } catch (GrammarException refusal) {
            assertThat(refusal.reason()).isEqualTo(Reason.BUDGET);
            return;
        }
        State at = constraint.start();
        for (char octet : "\"aaaaabcaaaabbbbcccc".toCharArray()) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            State next = null;
            try {
                next = at.advance(octet);
            } catch (GrammarException refusal) {
                assertThat(refusal.reason()).isEqualTo(Reason.BUDGET);
            }
            assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(MAX_BYTES);
            if (next == null) {
                return;
            }
            at = next;
        }
    }
}
