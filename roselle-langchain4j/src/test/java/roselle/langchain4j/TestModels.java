package roselle.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.checkpoint.gguf.GgufWriter;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.hub.BundledModel;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** The models that these tests ask. */
final class TestModels {
    private static final int SMOLLM2_WIDTH = 576;

    private TestModels() {}

    /** The demo model: what it can do stands in docs/demo-model.md. */
    static Engine demo() {
        try {
            Path file = BundledModel.DEMO.unpackInto(Path.of("target", "models"));
            return Engine.open(EngineConfig.of(file).with(new BatchOptions(0, 8, 512, 0, 64)));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** SmolLM2-135M-Instruct, whose chat template knows no tools. */
    static Engine smollm2() {
        try {
            Process script = new ProcessBuilder("../tools/smollm2.sh")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String path = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            assertThat(script.waitFor()).isZero();
            return Engine.open(EngineConfig.of(Path.of(path)).with(new BatchOptions(1024, 8, 512, 0, 64)));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException failure) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(failure);
        }
    }

    /** The fixture that was trained on the conversations of LangChain4j's own tests: see tools/conformance-model. */
    static Engine conformance() {
        return Engine.open(EngineConfig.of(Path.of("../roselle-engine/src/test/resources/conformance-model"))
                .with(new BatchOptions(0, 8, 512, 0, 64)));
    }

    /** Loads an adapter of SmolLM2 whose second matrix is zero: the same model under another name. */
    static void loadAdapter(Engine engine, String name) {
        var zeros = MemorySegment.ofArray(new byte[SMOLLM2_WIDTH * Float.BYTES]);
        var writer = new GgufWriter()
                .put("general.architecture", "llama")
                .put("general.type", "adapter")
                .put("adapter.type", "lora")
                .put("adapter.lora.alpha", 1f)
                .tensor(new Tensor("blk.0.attn_output.weight.lora_a", DataType.F32, Shape.of(1, SMOLLM2_WIDTH), zeros))
                .tensor(new Tensor("blk.0.attn_output.weight.lora_b", DataType.F32, Shape.of(SMOLLM2_WIDTH, 1), zeros));
        try {
            Path file = Files.createTempFile(Path.of("target"), "adapter", ".gguf");
            Files.write(file, writer.toBytes());
            engine.loadAdapter(name, file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static Path encoder(String name) {
        return Path.of("../roselle-engine/src/test/resources/tiny-encoders", name);
    }
}
