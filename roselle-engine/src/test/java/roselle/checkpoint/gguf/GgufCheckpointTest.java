package roselle.checkpoint.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Allocation;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

class GgufCheckpointTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void readsEveryTypeOfMetadata(int version) throws IOException {
        Path file = write(
                "m.gguf",
                new GgufWriter()
                        .version(version)
                        .alignment(64)
                        .put("text", "h\u00e9")
                        .put("int", 7)
                        .put("long", -8L)
                        .put("float", 0.5f)
                        .put("double", 0.25)
                        .put("flag", true)
                        .put("texts", List.of("a", ""))
                        .put("ints", new int[] {1, -2})
                        .put("floats", new float[] {1, 2})
                        .rawEntry("u8", GgufType.UINT8, new byte[] {-1})
                        .rawEntry("i8", GgufType.INT8, new byte[] {-1})
                        .rawEntry("u16", GgufType.UINT16, new byte[] {-1, -1})
                        .rawEntry("u32", GgufType.UINT32, new byte[] {-1, -1, -1, -1})
                        .rawArray("flags", GgufType.BOOL, 2, new byte[] {1, 0})
                        .tensor("t", DataType.Q4_K, 3, 512));
        try (var checkpoint = Checkpoints.open(file)) {
            Metadata config = checkpoint.config();
            assertThat(config.keys()).startsWith("general.alignment", "text").hasSize(15);
            assertThat(config.string("text")).isEqualTo("h\u00e9");
            assertThat(config.string("absent", "x")).isEqualTo("x");
            assertThat(config.integer("int")).isEqualTo(7);
            assertThat(config.integer("long")).isEqualTo(-8);
            assertThat(config.number("float")).isEqualTo(0.5);
            assertThat(config.number("double")).isEqualTo(0.25);
            assertThat(config.number("int")).isEqualTo(7);
            assertThat(config.flag("flag", false)).isTrue();
            assertThat(config.flag("absent", true)).isTrue();
            assertThat(config.strings("texts")).containsExactly("a", "");
            assertThat(config.strings("text")).containsExactly("h\u00e9");
            assertThat(config.integers("ints")).containsExactly(1, -2);
            assertThat(config.integers("int")).containsExactly(7);
            assertThat(config.numbers("floats")).containsExactly(1, 2);
            assertThat(config.flags("flags")).containsExactly(true, false);
            assertThat(config.integer("u8")).isEqualTo(255);
            assertThat(config.integer("i8")).isEqualTo(-1);
            assertThat(config.integer("u16")).isEqualTo(65535);
            assertThat(config.longInteger("u32")).isEqualTo(4294967295L);
            assertThat(config.object("text")).isEmpty();
            assertThat(checkpoint.tensor("t").shape()).isEqualTo(Shape.of(3, 512));
            assertThat(checkpoint.bytes()).isEqualTo(Files.size(file));
            assertThatThrownBy(() -> config.integer("text"))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("text is of type STRING, not an integer");
            assertThatThrownBy(() -> config.string("texts")).hasMessageContaining("an array of 2 STRING, not a string");
            assertThatThrownBy(() -> config.integer("u32")).hasMessageContaining("4294967295, which exceeds 32 bits");
            assertThatThrownBy(() -> config.string("absent")).hasMessageContaining("has no metadata key absent");
            assertThatThrownBy(() -> checkpoint.tensor("u")).hasMessageContaining("has no tensor u");
        }
    }

    @Test
    void keepsAVocabularyInTheFileUntilItIsAskedFor() throws IOException {
        List<String> tokens =
                IntStream.range(0, 128_000).mapToObj(Integer::toString).toList();
        Path file = write("v.gguf", new GgufWriter().put("tokenizer.ggml.tokens", tokens));
        Checkpoints.open(file).close(); // classes are loaded
        long before = Allocation.ofThisThread();
        try (var checkpoint = Checkpoints.open(file)) {
            assertThat(Allocation.ofThisThread() - before).isLessThan(200_000);
            assertThat(checkpoint.config().strings("tokenizer.ggml.tokens")).isEqualTo(tokens);
        }
    }

    @Test
    void joinsThePartsOfASplitModelWhicheverIsNamed() throws IOException {
        writeParts(3, 3);
        for (int part = 1; part <= 3; part++) {
            try (var checkpoint = Checkpoints.open(folder.resolve("m-0000%d-of-00003.gguf".formatted(part)))) {
                assertThat(checkpoint.config().string("general.architecture")).isEqualTo("llama");
                assertThat(checkpoint.tensors().keySet()).containsExactly("t0", "t1", "t2");
            }
        }
        try (var checkpoint = Checkpoints.open(folder)) {
            assertThat(checkpoint.tensors()).hasSize(3);
        }
    }

    @Test
    void refusesASplitModelWithoutAllOfItsParts() throws IOException {
        writeParts(3, 3);
        Files.delete(folder.resolve("m-00002-of-00003.gguf"));
        assertThatThrownBy(() -> Checkpoints.open(folder.resolve("m-00001-of-00003.gguf")))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("m-00002-of-00003.gguf does not exist");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void opensAFileThatSaysItIsJoinedOrTheOnlyPart(int count) throws IOException {
        Path file = write("m.gguf", new GgufWriter().put("split.count", count).tensor("t", DataType.F32, 1));
        try (var checkpoint = Checkpoints.open(file)) {
            assertThat(checkpoint.tensors()).hasSize(1);
        }
    }

    @Test
    void refusesPartsThatDisagree() throws IOException {
        writeParts(2, 5);
        assertThatThrownBy(() -> Checkpoints.open(folder))
                .hasMessageContaining("split.tensors.count is 5, but the 2 parts hold 2 tensors");
        Files.copy(folder.resolve("m-00001-of-00002.gguf"), folder.resolve("renamed.gguf"));
        assertThatThrownBy(() -> Checkpoints.open(folder.resolve("renamed.gguf")))
                .hasMessageContaining("split.count is 2, so the file's name must end in");
        Files.move(folder.resolve("m-00001-of-00002.gguf"), folder.resolve("n-00002-of-00002.gguf"));
        Files.move(folder.resolve("m-00002-of-00002.gguf"), folder.resolve("n-00001-of-00002.gguf"));
        assertThatThrownBy(() -> Checkpoints.open(folder.resolve("n-00001-of-00002.gguf")))
                .hasMessageContaining("split.no is 1, by the file's name it must be 0");
    }

    @Test
    void refusesATensorThatTwoPartsHave() throws IOException {
        for (int part = 0; part < 2; part++) {
            write(
                    "m-0000%d-of-00002.gguf".formatted(part + 1),
                    new GgufWriter().put("split.no", part).put("split.count", 2).tensor("same", DataType.F32, 1));
        }
        assertThatThrownBy(() -> Checkpoints.open(folder)).hasMessageContaining("an earlier part has a tensor of this");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2, 1_000_000_000})
    void refusesACountOfPartsThatNoNameCanHave(int count) throws IOException {
        Path file = write("m.gguf", new GgufWriter().put("split.count", (long) count));
        assertThatThrownBy(() -> Checkpoints.open(file)).hasMessageContaining("split.count is " + count);
    }

    @Test
    void readsChatTemplatesByName() throws IOException {
        Path file = write(
                "m.gguf",
                new GgufWriter()
                        .put("tokenizer.chat_template", "usual")
                        .put("tokenizer.chat_template.tool_use", "tools"));
        try (var checkpoint = Checkpoints.open(file)) {
            assertThat(checkpoint.chatTemplate()).contains("usual");
            assertThat(checkpoint.chatTemplate("tool_use")).contains("tools");
            assertThat(checkpoint.chatTemplate("rag")).isEmpty();
        }
    }

    @Test
    void refusesAVocabularyWhosePartsDisagree() throws IOException {
        var vocabulary = new GgufWriter()
                .put("tokenizer.ggml.model", "llama")
                .put("tokenizer.ggml.tokens", List.of("a", "b"))
                .put("tokenizer.ggml.padding_token_id", -1)
                .put("tokenizer.ggml.add_bos_token", true);
        try (var checkpoint = Checkpoints.open(write("ok.gguf", vocabulary))) {
            var keys = GgufTokenizerKeys.vocabulary((GgufMetadata) checkpoint.config());
            assertThat(keys.tokenIds()).isEmpty();
            assertThat(keys.flags()).containsEntry("add_bos_token", true);
        }
        Path scores = write("scores.gguf", vocabulary.put("tokenizer.ggml.scores", new float[3]));
        assertRefusesTokenizer(scores, "tokenizer.ggml.scores has 3 elements, but there are 2 tokens");
        Path id = write(
                "id.gguf",
                new GgufWriter()
                        .put("tokenizer.ggml.model", "llama")
                        .put("tokenizer.ggml.tokens", List.of("a", "b"))
                        .put("tokenizer.ggml.bos_token_id", 2));
        assertRefusesTokenizer(id, "tokenizer.ggml.bos_token_id is 2, but there are 2 tokens");
        assertRefusesTokenizer(write("none.gguf", new GgufWriter()), "has no tokenizer");
    }

    @Test
    void saysSoWhenAFileShrankWhileItWasOpen() throws IOException {
        Path file = write("m.gguf", new GgufWriter().tensor("t", DataType.F32, 4096));
        try (var checkpoint = Checkpoints.open(file)) {
            checkpoint.checkFiles();
            try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
                channel.truncate(100);
            }
            assertThatThrownBy(checkpoint::checkFiles)
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("shrank from")
                    .hasMessageContaining("to 100 bytes");
        }
    }

    @Test
    void unmapsEverythingWhenClosed() throws IOException {
        var checkpoint = Checkpoints.open(write("m.gguf", new GgufWriter().tensor("t", DataType.F32, 4)));
        var data = checkpoint.tensor("t").data();
        checkpoint.close();
        assertThat(data.scope().isAlive()).isFalse();
    }

    private static void assertRefusesTokenizer(Path file, String sentence) {
        try (var checkpoint = Checkpoints.open(file)) {
            assertThatThrownBy(checkpoint::tokenizer)
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining(sentence);
        }
    }

    private void writeParts(int parts, int statedTensors) throws IOException {
        for (int part = 0; part < parts; part++) {
            var writer = new GgufWriter().put("split.no", part).put("split.count", parts);
            if (part == 0) {
                writer.put("general.architecture", "llama").put("split.tensors.count", statedTensors);
            }
            write("m-%05d-of-%05d.gguf".formatted(part + 1, parts), writer.tensor("t" + part, DataType.F32, 4));
        }
    }

    private Path write(String name, GgufWriter writer) throws IOException {
        return Files.write(folder.resolve(name), writer.toBytes());
    }
}
