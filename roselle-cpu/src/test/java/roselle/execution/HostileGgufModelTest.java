package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.model.architecture.Architectures;

/** A GGUF whose header says what no model can be is refused in a sentence. */
class HostileGgufModelTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");
    private static final long SEED = 20261123;
    private static final int I8 = 24;
    private static final int I32 = 26;
    private static final int[] VALUES = {0, 1, -1, 2, 3, 7, 64, 1000, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE};

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "blk.0.attn_q.weight",
        "blk.1.ffn_down.weight",
        "token_embd.weight",
        "output.weight",
        "blk.0.attn_norm.weight",
        "output_norm.weight"
    })
    void refusesIntegersAsWeights(String tensor) throws IOException {
        byte[] file = gguf("llama");
        int at = indexOf(file, tensor) + tensor.length();
        var bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int type = at + 4 + 8 * bytes.getInt(at);
        bytes.putInt(type, I32); // as many bytes as float32 has
        assertThatThrownBy(() -> open(file))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContainingAll(tensor, "i32");
        bytes.putInt(type, I8);
        assertThatThrownBy(() -> open(file))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("i8");
    }

    @ParameterizedTest
    @CsvSource({
        "token_embd.weight,   0",
        "token_embd.weight,   1",
        "blk.0.attn_q.weight, 0",
        "blk.0.attn_q.weight, 1",
        "output_norm.weight,  0"
    })
    void refusesAnExtentOfZero(String tensor, int axis) throws IOException {
        byte[] file = gguf("llama");
        int at = indexOf(file, tensor) + tensor.length();
        ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putLong(at + 4 + 8 * axis, 0);
        assertThatThrownBy(() -> open(file)).isInstanceOf(CheckpointException.class);
    }

    @Test
    void threeHundredHeadersEndInAModelOrASentence() throws IOException {
        run(300, SEED);
    }

    @Test
    @Tag("long")
    void tenThousandHeadersEndInAModelOrASentence() throws IOException {
        run(10_000, SEED + 1);
    }

    /** Puts numbers into entries of the header, and now and then swaps a tensor's type. */
    private void run(int count, long seed) throws IOException {
        var random = new Random(seed);
        var outcomes = new TreeMap<String, Integer>();
        String[] names = {"llama", "gemma2", "deepseek_v3", "phi3", "qwen3_moe", "gpt2", "stablelm", "gpt_oss"};
        byte[][] files = new byte[names.length][];
        int[] ends = new int[names.length];
        for (int i = 0; i < names.length; i++) {
            files[i] = gguf(names[i]);
            ends[i] =
                    Math.max(indexOf(files[i], "output_norm.weight"), indexOf(files[i], "blk.1.attn_norm.weight")) + 50;
        }
        for (int round = 0; round < count; round++) {
            int model = random.nextInt(names.length);
            byte[] file = files[model].clone();
            int changes = 1 + random.nextInt(2);
            for (int i = 0; i < changes; i++) {
                int at = 24 + random.nextInt(ends[model] - 28);
                ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
                bytes.putInt(at, VALUES[random.nextInt(VALUES.length)]);
            }
            String outcome = "opens";
            try {
                open(file);
            } catch (CheckpointException refused) {
                outcome = "refused";
                assertThat(refused.getMessage()).doesNotContain("Exception", "\n");
            } catch (Throwable failure) {
                throw new AssertionError("seed " + seed + ", round " + round + ", " + names[model], failure);
            }
            outcomes.merge(outcome, 1, Integer::sum);
        }
        assertThat(outcomes).containsOnlyKeys("opens", "refused");
    }

    private static byte[] gguf(String model) {
        try (Checkpoint checkpoint = Checkpoints.open(MODELS.resolve(model))) {
            return GgufModel.of(checkpoint);
        }
    }

    private static int indexOf(byte[] file, String name) {
        return new String(file, StandardCharsets.ISO_8859_1).indexOf(name);
    }

    private void open(byte[] file) throws IOException {
        Path path = folder.resolve("model.gguf");
        Files.write(path, file);
        try (Checkpoint checkpoint = Checkpoints.open(path);
                var backend = new CpuDevice(CpuOptions.of(1).with(CpuPath.VECTOR))) {
            SingleSequence.open(checkpoint, Architectures.read(checkpoint), backend, 4, 16)
                    .close();
        }
    }
}
