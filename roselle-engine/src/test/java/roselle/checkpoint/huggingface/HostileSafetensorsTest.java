package roselle.checkpoint.huggingface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Allocation;
import roselle.checkpoint.InMemory;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

class HostileSafetensorsTest {
    private static final String SMALL = """
            {"__metadata__":{"format":"pt"},\
            "a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},\
            "b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},\
            "c":{"data_offsets":[32,33],"shape":[],"dtype":"F8_E4M3"},\
            "d":{"dtype":"I64","shape":[0,7],"data_offsets":[33,33]}}  \s""";

    @Test
    void readsEachTensorWhereItLies() {
        List<Tensor> tensors = SafetensorsInMemory.read(SafetensorsWriter.toBytes(SMALL, new byte[33]));
        assertThat(tensors).extracting(Tensor::name).containsExactly("a", "b", "c", "d");
        assertThat(tensors).extracting(Tensor::shape).contains(Shape.of(2, 3), Shape.of(), Shape.of(0, 7));
        assertThat(tensors)
                .extracting(Tensor::type)
                .containsExactly(DataType.F32, DataType.BF16, DataType.F8_E4M3, DataType.I64);
    }

    @Test
    void refusesAFileCutAtAnyByte() {
        byte[] whole = SafetensorsWriter.toBytes(SMALL, new byte[33]);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThat(InMemory.opensOrRefuses(() -> SafetensorsInMemory.read(cut)))
                    .as("cut at byte %d of %d", length, whole.length)
                    .isFalse();
        }
    }

    @Test
    void opensOrRefusesWhateverHeaderBitIsFlipped() {
        byte[] whole = SafetensorsWriter.toBytes(SMALL, new byte[33]);
        int header = whole.length - 33;
        int refused = 0;
        for (int bit = 0; bit < 8 * header; bit++) {
            byte[] flipped = whole.clone();
            flipped[bit / 8] ^= (byte) (1 << (bit % 8));
            refused += InMemory.opensOrRefuses(() -> SafetensorsInMemory.read(flipped)) ? 0 : 1;
        }
        assertThat(refused).isBetween(4 * header, 8 * header - 1);
    }

    static Stream<Arguments> hostileFiles() {
        return Stream.of(
                Arguments.of("no byte", new byte[0], "at byte 0, header length needs 8 bytes: the file ends at byte 0"),
                stated("header of 2^63", Long.MIN_VALUE, "at byte 0, header length is 9223372036854775808"),
                stated("header of 2^40", 1L << 40, "header length is 1099511627776: more than the format's limit"),
                stated("header too long", 100, "header length is 100: more than the bytes that follow it, 16"),
                stated("no header", 0, "header is nothing: expected START_OBJECT"),
                hostile("no object", "[]", "header is"),
                hostile("two documents", "{}{}", "nothing may follow"),
                hostile("depth bomb", "{\"a\":" + "[".repeat(100_000), "entry of a is"),
                hostile("deep metadata", "{\"__metadata__\":" + "[".repeat(100_000), "metadata of __metadata__ is ["),
                hostile("key twice in a tensor", entry("F32", "[1]", "0,4,\"dtype\":\"F16\""), "data_offsets of t"),
                hostile(
                        "name twice",
                        "{%s,%s}".formatted(tensor("F32", "[1]", "0,4"), tensor("F32", "[1]", "4,8")),
                        "t"),
                hostile("overlap", two("0,8", "4,12"), "data_offsets of u is 4: its bytes overlap those of tensor t"),
                hostile("same bytes", two("0,8", "0,8"), "its bytes overlap"),
                hostile("behind the end", entry("F32", "[4]", "8,24"), "data_offsets of t is 24: "),
                hostile("backwards", entry("F32", "[2]", "8,0"), "data_offsets of t is 8: more than the end, 0"),
                hostile("negative", entry("F32", "[2]", "-8,0"), "data_offsets of t is -8: negative"),
                hostile(
                        "2^63",
                        entry("F32", "[2]", "0,9223372036854775808"),
                        "is 9223372036854775808: larger than any"),
                hostile("2^63-1", entry("F32", "[2]", "0,9223372036854775807"), "exceeds 63 bits"),
                hostile("a long number", entry("F32", "[" + "9".repeat(1_000_000) + "]", "0,8"), "JSON is malformed"),
                hostile("a fraction", entry("F32", "[2.0]", "0,8"), "shape of t is 2.0: not a whole number"),
                hostile("1e400", entry("F32", "[1e400]", "0,8"), "shape of t is 1e400: not a whole number"),
                hostile("NaN", entry("F32", "[NaN]", "0,8"), "shape of t is NaN: not a whole number"),
                hostile("text", entry("F32", "[\"2\"]", "0,8"), "shape of t is 2: not a whole number"),
                hostile("a list", entry("F32", "[[2]]", "0,8"), "not a whole number"),
                hostile("one offset", entry("F32", "[2]", "0"), "it has no two data_offsets"),
                hostile("three offsets", entry("F32", "[2]", "0,4,8"), "at most 2 numbers"),
                hostile("no shape", "{\"t\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", "it has no shape"),
                hostile("no dtype", "{\"t\":{\"shape\":[1],\"data_offsets\":[0,4]}}", "it has no dtype"),
                hostile("unknown key", "{\"t\":{\"x\":1}}", "key of t is x"),
                hostile("unknown dtype", entry("F4", "[2]", "0,1"), "dtype of t is F4: this tensor type is not supp"),
                hostile("no dtype text", "{\"t\":{\"dtype\":7}}", "dtype of t is no string"),
                hostile("too short", entry("F32", "[3]", "0,8"), "a F32 tensor of shape [3] takes 12 bytes"),
                hostile("wraps", entry("F32", "[4294967296,4294967296]", "0,0"), "exceeds 63 bits"),
                hostile("bytes wrap", entry("F64", "[2305843009213693952]", "0,0"), "exceeds 63 bits"),
                hostile(
                        "trailing bytes",
                        entry("F32", "[3]", "0,12"),
                        "data is 16 bytes: the tensors of the header take 12"),
                hostile("no tensor but bytes", "{}", "data is 16 bytes: the tensors of the header take 0"),
                hostile("a hole", entry("F32", "[3]", "4,16"), "data is 16 bytes: the tensors of the header take 12"),
                hostile(
                        "metadata of numbers",
                        "{\"__metadata__\":{\"a\":1}}",
                        "metadata a of __metadata__ is 1: expected VALUE_STRING"),
                hostile("metadata of objects", "{\"__metadata__\":{\"a\":{}}}", "metadata a of __metadata__ is {"),
                hostile(
                        "metadata that is a list",
                        "{\"__metadata__\":[\"a\"]}",
                        "metadata of __metadata__ is [: expected START_OBJECT"),
                hostile("rank 9", entry("F32", "[1,1,1,1,1,1,1,1,1]", "0,4"), "at most 8 numbers"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hostileFiles")
    void refusesInOneSentenceWithoutAllocatingWhatIsAsked(String name, byte[] file, String sentence) {
        long before = Allocation.ofThisThread();
        assertThatThrownBy(() -> SafetensorsInMemory.read(file))
                .as(name)
                .isInstanceOf(CheckpointException.class)
                .hasMessageStartingWith("hostile: at byte ")
                .hasMessageContaining(sentence)
                .hasMessageNotContaining("\n");
        assertThat(Allocation.ofThisThread() - before).isLessThan(8_000_000L + 8L * file.length);
    }

    @Test
    void refusesAKeyThatStandsTwiceInOneTensor() {
        String header = "{\"t\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
        assertThatThrownBy(() -> SafetensorsInMemory.read(SafetensorsWriter.toBytes(header, new byte[4])))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("uplicate");
    }

    @Test
    void refusesAHeaderThatIsNotUtf8() {
        byte[] file = SafetensorsWriter.toBytes(entry("F32", "[1]", "0,4"), new byte[4]);
        file[10] = (byte) 0xC3;
        assertThatThrownBy(() -> SafetensorsInMemory.read(file)).isInstanceOf(CheckpointException.class);
    }

    private static String tensor(String type, String shape, String offsets) {
        return "\"t\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%s]}".formatted(type, shape, offsets);
    }

    private static String entry(String type, String shape, String offsets) {
        return "{" + tensor(type, shape, offsets) + "}";
    }

    private static String two(String first, String second) {
        return "{" + tensor("F32", "[2]", first) + ","
                + tensor("F32", "[2]", second).replaceFirst("t", "u") + "}";
    }

    private static Arguments hostile(String name, String header, String sentence) {
        return Arguments.of(name, SafetensorsWriter.toBytes(header, new byte[16]), sentence);
    }

    private static Arguments stated(String name, long length, String sentence) {
        return Arguments.of(name, SafetensorsWriter.toBytes(length, "{}", new byte[14]), sentence);
    }
}
