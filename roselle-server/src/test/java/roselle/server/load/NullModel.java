package roselle.server.load;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A Llama of one layer whose weights are all zero, so that every token is as likely as any other and next to no time goes into
 * it: what is measured with it is all but the model. It has no tokenizer, prompts are token ids.
 */
final class NullModel {
    static final int CONTEXT = 512;
    static final int VOCABULARY = 64;

    private static final int WIDTH = 32;
    private static final int ALIGNMENT = 32;
    private static final int TYPE_UINT32 = 4;
    private static final int TYPE_FLOAT32 = 6;
    private static final int TYPE_STRING = 8;

    private final ByteArrayOutputStream settings = new ByteArrayOutputStream();
    private final ByteArrayOutputStream tensors = new ByteArrayOutputStream();
    private long settingCount;
    private long tensorCount;
    private long dataBytes;

    private NullModel() {}

    /** Writes the model below the build folder, in one step: another JVM of these tests may have it mapped. */
    static Path write() {
        try {
            Path folder = Files.createDirectories(Path.of("target", "models"));
            Path part = Files.createTempFile(folder, "null", ".part");
            Files.write(part, new NullModel().bytes());
            return Files.move(part, folder.resolve("null.gguf"), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }

    private byte[] bytes() {
        text("general.architecture", "llama");
        number("llama.block_count", 1);
        number("llama.context_length", CONTEXT);
        number("llama.embedding_length", WIDTH);
        number("llama.feed_forward_length", WIDTH);
        number("llama.attention.head_count", 1);
        number("llama.attention.head_count_kv", 1);
        number("llama.rope.dimension_count", WIDTH);
        number("llama.vocab_size", VOCABULARY);
        epsilon("llama.attention.layer_norm_rms_epsilon", 1e-5f);
        tensor("token_embd.weight", WIDTH, VOCABULARY);
        tensor("output.weight", WIDTH, VOCABULARY);
        tensor("output_norm.weight", WIDTH);
        for (String norm : new String[] {"attn_norm", "ffn_norm"}) {
            tensor("blk.0." + norm + ".weight", WIDTH);
        }
        for (String matrix :
                new String[] {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
            tensor("blk.0." + matrix + ".weight", WIDTH, WIDTH);
        }
        return assembled();
    }

    private byte[] assembled() {
        int head = 4 + 4 + 8 + 8 + settings.size() + tensors.size();
        int begin = (head + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        var file = ByteBuffer.allocate(begin + Math.toIntExact(dataBytes)).order(ByteOrder.LITTLE_ENDIAN);
        file.put("GGUF".getBytes(StandardCharsets.US_ASCII)).putInt(3);
        file.putLong(tensorCount).putLong(settingCount);
        file.put(settings.toByteArray()).put(tensors.toByteArray());
        return file.array();
    }

    private void text(String key, String value) {
        setting(key, TYPE_STRING).writeBytes(string(value));
    }

    private void number(String key, int value) {
        setting(key, TYPE_UINT32).writeBytes(little(4).putInt(value).array());
    }

    private void epsilon(String key, float value) {
        setting(key, TYPE_FLOAT32).writeBytes(little(4).putFloat(value).array());
    }

    private ByteArrayOutputStream setting(String key, int type) {
        settingCount++;
        settings.writeBytes(string(key));
        settings.writeBytes(little(4).putInt(type).array());
        return settings;
    }

    private void tensor(String name, int... extents) {
        tensorCount++;
        tensors.writeBytes(string(name));
        tensors.writeBytes(little(4).putInt(extents.length).array());
        long bytes = Float.BYTES;
        for (int extent : extents) {
            tensors.writeBytes(little(8).putLong(extent).array());
            bytes *= extent;
        }
        tensors.writeBytes(little(12).putInt(0).putLong(dataBytes).array()); // type 0 is f32
        dataBytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private static byte[] string(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return little(8 + bytes.length).putLong(bytes.length).put(bytes).array();
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
