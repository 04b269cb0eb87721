package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.huggingface.JsonMetadata;
import roselle.tensor.CodeValues;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * A matrix of bitsandbytes in 4 bits: of two numbers in a byte the first one is above, and blocks of numbers share a scale,
 * counted through all rows. Scales are float32 or, quantized a second time, places in a table of 256 with scales of their own
 * and an offset. The table and all sizes are in the file (QLoRA, section 3).
 *
 * @param parts the matrix, whose columns share a scale as they do in blocks, or in the parts of blocks that lie in one row
 * @param blockSize numbers that share a scale
 */
record FlatBlocks(IntegerGroups parts, int blockSize, Scales scales) {
    static final String STATE = ".quant_state.bitsandbytes__";

    private static final String WEIGHT = ".weight";
    private static final Set<String> FIELDS =
            Set.of("quant_type", "blocksize", "dtype", "shape", "nested_blocksize", "nested_dtype", "nested_offset");
    private static final List<String> TABLES = List.of("nf4", "fp4");
    private static final Set<String> BESIDE = Set.of("absmax", "quant_map", "nested_absmax", "nested_quant_map");
    private static final int PLACES = 16;
    private static final int SCALE_PLACES = 256;
    private static final int MOST = 1 << 20;

    /** The scale of a block. */
    @FunctionalInterface
    interface Scales {
        float of(long block);
    }

    /** The tensor that says how a module is stored; empty where it is not stored in 4 bits. */
    static Optional<Tensor> state(NamedTensors tensors, String base) {
        return TABLES.stream()
                .flatMap(table -> tensors.find(base + WEIGHT + STATE + table).stream())
                .findFirst();
    }

    static boolean isBeside(String name) {
        return name.contains(WEIGHT + STATE)
                || (name.contains(WEIGHT + ".") && BESIDE.contains(name.substring(name.lastIndexOf('.') + 1)));
    }

    static FlatBlocks of(Tensor state, IntegerGroups matrix) {
        Shape shape = matrix.shape();
        String origin = matrix.tensors().source() + ": tensor " + state.name();
        Metadata said = JsonMetadata.parse(origin, state.data().toArray(JAVA_BYTE));
        var fields = new MethodFields(said, "bitsandbytes");
        fields.requireOnly(FIELDS);
        fields.requireOneOf("quant_type", TABLES);
        int[] stored = said.integers("shape");
        if (!Arrays.equals(Arrays.stream(stored).asLongStream().toArray(), shape.toArray())) {
            throw fields.unsupported("shape", Arrays.toString(stored), shape.toString());
        }
        int size = size(fields, "blocksize");
        long together = BigInteger.valueOf(shape.columns())
                .gcd(BigInteger.valueOf(size))
                .longValueExact();
        var parts = new IntegerGroups(matrix.tensors(), matrix.base(), shape, new Group(1, together));
        long blocks = Math.ceilDiv(shape.elements(), size);
        Scales scales = said.has("nested_blocksize") ? nested(parts, fields, blocks) : plain(parts, blocks);
        for (long block = 0; block < blocks; block++) {
            if (!Float.isFinite(scales.of(block))) {
                throw parts.failure(
                        parts.base() + WEIGHT + ".absmax",
                        "has the scale " + scales.of(block) + " at " + block + "; scales are finite");
            }
        }
        return new FlatBlocks(parts, size, scales);
    }

    private static int size(MethodFields fields, String key) {
        int size = fields.config().integer(key);
        if (size < 1 || size > MOST) {
            throw fields.unsupported(key, Integer.toString(size), "a number from 1 to " + MOST);
        }
        return size;
    }

    private static Scales plain(IntegerGroups parts, long blocks) {
        MemorySegment absmax = parts.required(WEIGHT + ".absmax", DataType.F32, Shape.of(blocks))
                .data();
        return block -> absmax.get(JAVA_FLOAT_UNALIGNED, block * Float.BYTES);
    }

    private static Scales nested(IntegerGroups parts, MethodFields fields, long blocks) {
        int size = size(fields, "nested_blocksize");
        fields.requireOneOf("nested_dtype", List.of("float32"));
        float offset = (float) fields.config().number("nested_offset");
        MemorySegment codes = parts.required(WEIGHT + ".absmax", DataType.U8, Shape.of(blocks))
                .data();
        float[] values =
                Dequantizer.all(parts.required(WEIGHT + ".nested_quant_map", DataType.F32, Shape.of(SCALE_PLACES)));
        MemorySegment largest = parts.required(
                        WEIGHT + ".nested_absmax", DataType.F32, Shape.of(Math.ceilDiv(blocks, size)))
                .data();
        return block -> values[Byte.toUnsignedInt(codes.get(JAVA_BYTE, block))]
                        * largest.get(JAVA_FLOAT_UNALIGNED, block / size * Float.BYTES)
                + offset;
    }

    /** The matrix as bytes, places in its table, with a float32 scale for each group of columns. */
    StoredMatrix bind(Copies copies) {
        Shape shape = parts.shape();
        long columns = shape.columns();
        long together = parts.columns().columns();
        MemorySegment codes = codes();
        CodeValues values = values();
        Tensor bytes = copies.bytes(parts.base() + WEIGHT, shape, (row, column) -> {
            long index = row * columns + column;
            return (codes.get(JAVA_BYTE, index / 2) >>> (index % 2 == 0 ? 4 : 0)) & 0xf;
        });
        Tensor stored = copies.floats(
                parts.base() + WEIGHT + ".absmax",
                parts.grid(),
                (row, group) -> scales.of((row * columns + group * together) / blockSize));
        return new StoredMatrix.Tabled(bytes, values, new GroupScales(parts.columns(), stored, 0));
    }

    private CodeValues values() {
        Tensor map = parts.required(WEIGHT + ".quant_map", DataType.F32, Shape.of(PLACES));
        float[] values = Dequantizer.all(map);
        for (float value : values) {
            if (!Float.isFinite(value)) {
                throw parts.failure(map.name(), "has " + value + "; numbers of a table are finite");
            }
        }
        return CodeValues.of(values);
    }

    /** Bytes, whatever type the file gives them ({@code bnb_4bit_quant_storage}). */
    private MemorySegment codes() {
        String name = parts.base() + WEIGHT;
        Tensor codes = parts.tensors()
                .find(name)
                .orElseThrow(() -> parts.failure(name, "is missing; the file is not complete"));
        long expected = Math.ceilDiv(parts.shape().elements(), 2);
        if (codes.data().byteSize() != expected) {
            throw parts.failure(
                    name, "has " + codes.data().byteSize() + " bytes, expected " + expected + ", two numbers in each");
        }
        return codes.data();
    }
}
