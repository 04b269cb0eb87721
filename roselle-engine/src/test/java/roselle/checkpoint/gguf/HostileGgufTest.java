package roselle.checkpoint.gguf;

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

class HostileGgufTest {
    private static final int F32 = 0;
    private static final int Q8_0 = 8;
    private static final long HUGE = Long.MIN_VALUE; // 2^63 as an unsigned number

    @Test
    void refusesAFileCutAtAnyByte() {
        byte[] whole = small().toBytes();
        assertThat(GgufInMemory.read(whole)).hasSize(3);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThat(InMemory.opensOrRefuses(() -> GgufInMemory.read(cut)))
                    .as("cut at byte %d of %d", length, whole.length)
                    .isFalse();
        }
    }

    @Test
    void opensOrRefusesWhateverHeaderBitIsFlipped() {
        byte[] whole = small().toBytes();
        int header = small().headerBytes().length;
        int refused = 0;
        for (int bit = 0; bit < 8 * header; bit++) {
            byte[] flipped = whole.clone();
            flipped[bit / 8] ^= (byte) (1 << (bit % 8));
            refused += InMemory.opensOrRefuses(() -> GgufInMemory.read(flipped)) ? 0 : 1;
        }
        assertThat(refused).isBetween(header, 8 * header - 1); // names may change, structure may not
    }

    static Stream<Arguments> hostileFiles() {
        return Stream.of(
                Arguments.of("no byte", new byte[0], "at byte 0, magic needs 4 bytes: the file ends at byte 0"),
                hostile(
                        "wrong magic",
                        writer().rawMagic(0x46554748),
                        "at byte 0, magic is 0x46554748: not a GGUF file"),
                hostile("version 1", writer().version(1), "at byte 4, version is 1: only versions 2 and 3"),
                hostile("version 4", writer().version(4), "version is 4"),
                hostile("big-endian", writer().version(0x03000000), "a big-endian file"),
                hostile("2^63 tensors", writer().rawCounts(HUGE, 0), "at byte 8, tensor count is 9223372036854775808"),
                hostile("2^64-1 keys", writer().rawCounts(0, -1), "at byte 16, metadata count is 18446744073709551615"),
                hostile("many tensors", writer().rawCounts(200_000, 0), "tensor count is 200000: each takes 24 bytes"),
                hostile("2^62 tensors", writer().rawCounts(1L << 62, 0), "more than the limit of 262144"),
                hostile("key twice", writer().put("a", 1).put("a", 2), "metadata key is a: it stands there twice"),
                hostile("type 13", writer().rawEntry("k", 13, new byte[8]), "at byte 33, type of k is 13: not a type"),
                hostile("type -1", writer().rawEntry("k", -1, new byte[8]), "type of k is 4294967295"),
                hostile("long key", writer().put("k".repeat(1025), 1), "length of metadata key is 1025"),
                hostile("2^63 strings", array(GgufType.STRING, HUGE), "length of k is 9223372036854775808"),
                hostile("2^61 doubles", array(GgufType.FLOAT64, 1L << 61), "length of k is 2305843009213693952: more"),
                hostile("16 M bytes", array(GgufType.UINT8, 1L << 24), "length of k is 16777216: each takes 1 bytes"),
                hostile("arrays in an array", array(GgufType.ARRAY, 1), "element type of k is ARRAY: arrays of arrays"),
                hostile("2^63 characters", stringOf(HUGE), "length of a string of k is 9223372036854775808"),
                hostile("too many characters", stringOf(1000), "length of a string of k is 1000: more than the bytes"),
                hostile("alignment 0", writer().alignmentKey(0), "general.alignment is 0: not a power of two"),
                hostile("alignment 24", writer().alignmentKey(24), "general.alignment is 24: not a power of two"),
                hostile("alignment 2^31", writer().alignmentKey(1 << 31), "is 2147483648: more than the limit"),
                hostile("alignment text", writer().put("general.alignment", "x"), "it must be a UINT32"),
                hostile("rank 2^31", tensor(new long[9], F32, 0), "rank of t is 9: more than the limit of 8"),
                hostile("product wraps", tensor(new long[] {1L << 32, 1L << 32}, F32, 0), "exceeds 63 bits"),
                hostile("wraps to 0", tensor(new long[] {1L << 40, 1L << 40, 0}, F32, 0), "exceeds 63 bits"),
                hostile("bytes wrap", tensor(new long[] {1L << 61}, F32, 0), "exceeds 63 bits"),
                hostile("extent 2^63", tensor(new long[] {HUGE}, F32, 0), "extent of t is 9223372036854775808"),
                hostile(
                        "no rows of 2^62",
                        tensor(new long[] {0, 1L << 62}, F32, 0),
                        "extent of t is 4611686018427387904"),
                hostile("half a block", tensor(new long[] {2, 33}, Q8_0, 0), "extent of t is 33: not a multiple of"),
                hostile("scalar block", tensor(new long[0], Q8_0, 0), "type of t is Q8_0: a scalar is no whole block"),
                hostile("type Q8_1", tensor(new long[] {256}, 9, 0), "type of t is 9 (Q8_1, which is for activations)"),
                hostile("type 31", tensor(new long[] {256}, 31, 0), "type of t is 31 (Q4_0_4_4, which ggml removed)"),
                hostile("type 999", tensor(new long[] {256}, 999, 0), "type of t is 999 (unknown)"),
                hostile("behind the end", tensor(new long[] {8}, F32, 64), "offset of t is 64"),
                hostile("offset 2^63", tensor(new long[] {8}, F32, HUGE), "offset of t is 9223372036854775808"),
                hostile("offset wraps", tensor(new long[] {8}, F32, Long.MAX_VALUE - 31), "exceeds 63 bits"),
                hostile("unaligned", tensor(new long[] {1}, F32, 4), "offset of t is 4: not a multiple of the align"),
                hostile("too long", tensor(new long[] {17}, F32, 0), "more than the file's size"),
                hostile(
                        "name twice",
                        tensor(new long[] {1}, F32, 0).rawTensor("t", new long[] {1}, F32, 32),
                        "two ten"),
                hostile(
                        "overlap",
                        tensor(new long[] {9}, F32, 0).rawTensor("u", new long[] {1}, F32, 32),
                        "offset of u is"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hostileFiles")
    void refusesInOneSentenceWithoutAllocatingWhatIsAsked(String name, byte[] file, String sentence) {
        long before = Allocation.ofThisThread();
        assertThatThrownBy(() -> GgufInMemory.read(file))
                .as(name)
                .isInstanceOf(CheckpointException.class)
                .hasMessageStartingWith("hostile: at byte ")
                .hasMessageContaining(sentence)
                .hasMessageNotContaining("\n");
        assertThat(Allocation.ofThisThread() - before).isLessThan(4_000_000);
    }

    @Test
    void refusesKeysThatAreNotUtf8() {
        byte[] file = writer().put("kk", 1).toBytes();
        file[32] = (byte) 0xFF;
        assertThatThrownBy(() -> GgufInMemory.read(file)).hasMessageContaining("not UTF-8");
    }

    @Test
    void acceptsEmptyTensorsAndArraysAndThoseAtTheVeryEnd() {
        byte[] file = writer().put("none", List.of())
                .tensor("empty", DataType.F32, 0, 4)
                .rawTensor("last", new long[] {16}, F32, 0)
                .rawData(64)
                .toBytes();
        assertThat(GgufInMemory.read(file)).hasSize(2);
    }

    private static GgufWriter small() {
        return writer().put("general.architecture", "llama")
                .put("i", 7)
                .put("l", -7L)
                .put("f", 0.5f)
                .put("d", 0.25)
                .put("b", true)
                .put("tokens", List.of("a", "", "\u00e9"))
                .put("scores", new float[] {1, 2})
                .put("types", new int[] {1, 2, 3})
                .tensor("t", DataType.F32, 2, 3)
                .tensor("q", DataType.Q8_0, 2, 32)
                .rawTensor("s", new long[] {}, F32, 128)
                .rawData(4);
    }

    private static GgufWriter writer() {
        return new GgufWriter();
    }

    private static GgufWriter array(GgufType type, long count) {
        return writer().rawArray("k", type, count, new byte[16]);
    }

    private static GgufWriter stringOf(long length) {
        return writer().rawEntry("k", GgufType.STRING, GgufWriter.little(8, bytes -> bytes.putLong(length)));
    }

    private static GgufWriter tensor(long[] extents, int type, long offset) {
        return writer().rawTensor("t", extents, type, offset).rawData(64);
    }

    private static Arguments hostile(String name, GgufWriter writer, String sentence) {
        return Arguments.of(name, writer.toBytes(), sentence);
    }
}
