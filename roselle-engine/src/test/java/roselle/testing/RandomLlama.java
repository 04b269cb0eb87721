package roselle.testing;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import roselle.checkpoint.gguf.GgufWriter;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A Llama as GGUF, wide enough for formats of 256 numbers to a block, its numbers random but tame; of two layers unless it is told. */
public final class RandomLlama {
    private static final int WIDTH = 256;
    private static final int INNER = 512;
    private static final int VOCABULARY = 320;
    private static final int KEYS = WIDTH / 2;
    private static final long SEED = 31;

    private final Random random = new Random(SEED);
    private final DataType type;
    private final int layers;
    private final int scale;
    private final GgufWriter writer = new GgufWriter().put("general.architecture", "llama");

    private RandomLlama(DataType type, int layers, int scale) {
        this.type = type;
        this.layers = layers;
        this.scale = scale;
    }

    /** Writes the model, without a tokenizer, into a folder. */
    public static Path write(DataType type, Path folder) throws IOException {
        return Files.write(folder.resolve("random-" + type.label() + ".gguf"), new RandomLlama(type, 2, 1).bytes());
    }

    /** Writes one that is four times as wide, and whose matrices are megabytes. */
    public static Path writeWide(DataType type, Path folder) throws IOException {
        return Files.write(folder.resolve("wide-" + type.label() + ".gguf"), new RandomLlama(type, 2, 4).bytes());
    }

    /** Writes one of so many layers that is {@code scale} times as wide as 256 numbers. */
    public static Path writeShape(DataType type, int layers, int scale, Path file) throws IOException {
        return Files.write(file, new RandomLlama(type, layers, scale).bytes());
    }

    private byte[] bytes() {
        int width = scale * WIDTH;
        writer.put("llama.block_count", layers)
                .put("llama.context_length", 512)
                .put("llama.embedding_length", width)
                .put("llama.feed_forward_length", scale * INNER)
                .put("llama.attention.head_count", 4)
                .put("llama.attention.head_count_kv", 2)
                .put("llama.rope.dimension_count", width / 4)
                .put("llama.vocab_size", VOCABULARY)
                .put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
        matrix("token_embd.weight", VOCABULARY, width);
        for (int layer = 0; layer < layers; layer++) {
            String block = "blk." + layer + ".";
            norm(block + "attn_norm.weight");
            matrix(block + "attn_q.weight", width, width);
            matrix(block + "attn_k.weight", scale * KEYS, width);
            matrix(block + "attn_v.weight", scale * KEYS, width);
            matrix(block + "attn_output.weight", width, width);
            norm(block + "ffn_norm.weight");
            matrix(block + "ffn_gate.weight", scale * INNER, width);
            matrix(block + "ffn_up.weight", scale * INNER, width);
            matrix(block + "ffn_down.weight", width, scale * INNER);
        }
        norm("output_norm.weight");
        matrix("output.weight", VOCABULARY, width);
        return writer.toBytes();
    }

    private void norm(String name) {
        int width = scale * WIDTH;
        float[] ones = new float[width];
        java.util.Arrays.fill(ones, 1f);
        writer.tensor(new Tensor(name, DataType.F32, Shape.of(width), floats(ones)));
    }

    private void matrix(String name, int rows, int columns) {
        MemorySegment data = MemorySegment.ofArray(blocks(random, type, (long) rows * columns));
        writer.tensor(new Tensor(name, type, Shape.of(rows, columns), data));
    }

    /** Blocks of random bits, drawn again until their numbers are finite, neither all tiny nor large. */
    public static byte[] blocks(Random random, DataType type, long elements) {
        var bytes = new byte[Math.toIntExact(type.rowBytes(elements))];
        var block = new byte[type.blockBytes()];
        var numbers = new float[type.blockElements()];
        for (int at = 0; at < bytes.length; at += block.length) {
            do {
                random.nextBytes(block);
                Dequantizer.of(type).dequantize(MemorySegment.ofArray(block), 0, numbers, 0, numbers.length);
            } while (!isTame(numbers));
            System.arraycopy(block, 0, bytes, at, block.length);
        }
        return bytes;
    }

    private static boolean isTame(float[] numbers) {
        float largest = 0;
        for (float number : numbers) {
            if (!(Math.abs(number) <= 0.5f)) {
                return false;
            }
            largest = Math.max(largest, Math.abs(number));
        }
        return numbers.length == 1 || largest > 0.001f;
    }

    private static MemorySegment floats(float[] numbers) {
        var bytes = java.nio.ByteBuffer.allocate(numbers.length * Float.BYTES).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(numbers);
        return MemorySegment.ofArray(bytes.array());
    }
}
