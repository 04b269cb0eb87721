package roselle.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class JsonWeightTest {
    private static final int VALUES = 60_000;
    private static final int NOISE_BYTES = 1 << 20;
    private static final int MEASUREMENTS = 10;

    /** Documents that become as large a tree as their bytes can. */
    @SuppressWarnings("ImmutableEnumChecker") // functions without state
    enum Shape {
        NUMBERS(index -> "0"),
        LONGS(index -> Long.toString(Long.MAX_VALUE - index)),
        FRACTIONS(index -> "0.5e" + index % 9),
        TEXTS(index -> "\"" + index + "\""),
        ESCAPED_TEXTS(index -> "\"\\\"" + index + "\\\\\""),
        WIDE_TEXTS(index -> "\"" + index + "\u0416\""),
        EMPTY_LISTS(index -> "[]"),
        EMPTY_OBJECTS(index -> "{}"),
        LISTS(index -> "[" + index + "]"),
        OBJECTS(index -> "{\"a\":" + index + "}"),
        NESTED(index -> "[".repeat(60) + "]".repeat(60)),
        NESTED_OBJECTS(index -> "{\"a\":".repeat(40) + "1" + "}".repeat(40)),
        NAMED_TEXTS(index -> "{\"a\":\"" + index + "\",\"b\":\"" + index + "\"}");

        private final IntFunction<String> value;

        Shape(IntFunction<String> value) {
            this.value = value;
        }

        /** Several megabytes as a tree. */
        private String document() {
            int count = Math.max(100, VALUES * 8 / value.apply(0).length());
            return "{\"all\":[" + IntStream.range(0, count).mapToObj(value).collect(Collectors.joining(",")) + "]}";
        }
    }

    @ParameterizedTest
    @EnumSource
    void isMoreThanTheTreeTakes(Shape shape) {
        requireEnough(shape.document());
    }

    @ParameterizedTest
    @EnumSource(names = {"NUMBERS", "TEXTS", "EMPTY_OBJECTS"})
    void isMoreThanTheTreeOfAWideObjectTakes(Shape shape) {
        requireEnough(IntStream.range(0, VALUES)
                .mapToObj(index -> "\"" + index + "\":" + shape.value.apply(index))
                .collect(Collectors.joining(",", "{", "}")));
    }

    private static void requireEnough(String document) {
        byte[] bytes = document.getBytes(StandardCharsets.UTF_8);
        Json.object(bytes); // loads classes, and fills what is kept between documents
        long weight = JsonWeight.of(bytes);
        long least = bytesOfTree(bytes);
        for (int time = 1; time < MEASUREMENTS && least - NOISE_BYTES >= weight; time++) {
            least = Math.min(least, bytesOfTree(bytes));
        }
        assertThat(weight).isGreaterThan(least - NOISE_BYTES);
    }

    /** By how much the heap grows, with what this process's other threads take meanwhile. */
    private static long bytesOfTree(byte[] document) {
        long before = usedBytes();
        JsonFields tree = Json.object(document);
        try {
            return usedBytes() - before;
        } finally {
            Reference.reachabilityFence(tree);
        }
    }

    private static long usedBytes() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
