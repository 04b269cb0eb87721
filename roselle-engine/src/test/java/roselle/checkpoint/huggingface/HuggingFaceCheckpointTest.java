package roselle.checkpoint.huggingface;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.InMemory;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;
import roselle.tokenizer.EncodeOptions;

class HuggingFaceCheckpointTest {
    @TempDir
    private Path folder;

    @Test
    void opensAFolderWithOneFileOfTensors() throws IOException {
        write("config.json", "{\"model_type\":\"llama\",\"rope\":{\"theta\":1e4},\"eos\":[1,2],\"n\":null}");
        write("generation_config.json", "{\"temperature\":0.6}");
        writeTensors("model.safetensors", "a", "b");
        try (var checkpoint = Checkpoints.open(folder)) {
            assertThat(checkpoint.format()).isEqualTo(Checkpoint.Format.HUGGING_FACE);
            assertThat(checkpoint.config().string("model_type")).isEqualTo("llama");
            Metadata rope = checkpoint.config().object("rope").orElseThrow();
            assertThat(rope.number("theta")).isEqualTo(10_000);
            assertThatThrownBy(() -> rope.integer("theta"))
                    .hasMessageContaining("config.json: rope: theta is 10000.0, not an integer of 64 bits");
            assertThatThrownBy(() -> checkpoint.config().object("eos"))
                    .hasMessageContaining("eos is [1,2], not an object");
            assertThat(checkpoint.config().integers("eos")).containsExactly(1, 2);
            assertThat(checkpoint.config().has("n")).isFalse();
            assertThat(checkpoint.config().integer("n", 5)).isEqualTo(5);
            assertThat(checkpoint.generationConfig().orElseThrow().number("temperature"))
                    .isEqualTo(0.6);
            assertThat(checkpoint.tensors().keySet()).containsExactly("a", "b");
            assertThat(checkpoint.chatTemplate()).isEmpty();
        }
    }

    @Test
    void joinsTheShardsThatTheIndexNames() throws IOException {
        writeTensors("model-00001-of-00002.safetensors", "a", "stray");
        writeTensors("model-00002-of-00002.safetensors", "b");
        Path index =
                writeIndex("{\"a\":\"model-00001-of-00002.safetensors\",\"b\":\"model-00002-of-00002.safetensors\"}");
        for (Path path : List.of(folder, index)) {
            try (var checkpoint = Checkpoints.open(path)) {
                assertThat(checkpoint.tensors().keySet()).containsExactly("a", "b");
                assertThat(checkpoint.tensor("b").shape()).isEqualTo(Shape.of(2));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"../../etc/passwd\"",
                "\"/etc/passwd\"",
                "\"../x.safetensors\"",
                "\"sub/x.safetensors\"",
                "\"..\\\\x.safetensors\"",
                "\".safetensors\"",
                "\"C:x.safetensors\"",
                "\"a\\u0000.safetensors\"",
                "\"\"",
                "7",
                "null",
                "[]"
            })
    void refusesAnIndexThatNamesAnythingButAFileBesideIt(String shard) throws IOException {
        writeIndex("{\"t\":" + shard + "}");
        assertThatThrownBy(() -> Checkpoints.open(folder))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("it must be a .safetensors file in the same folder");
    }

    @Test
    void refusesAnIndexWhoseShardLacksTheTensorOrIsNotThere() throws IOException {
        writeTensors("x.safetensors", "a");
        writeIndex("{\"b\":\"x.safetensors\"}");
        assertThatThrownBy(() -> Checkpoints.open(folder))
                .hasMessageContaining("names tensor b in x.safetensors, which");
        writeIndex("{\"b\":\"y.safetensors\"}");
        assertThatThrownBy(() -> Checkpoints.open(folder)).hasMessageContaining("y.safetensors does not exist");
        write("model.safetensors.index.json", "{\"weight_map\":[]}");
        assertThatThrownBy(() -> Checkpoints.open(folder)).hasMessageContaining("has no object weight_map");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                              | does not hold a JSON object",
                "[]                              | does not hold a JSON object",
                "{                               | the JSON is malformed",
                "{} {}                           | something follows the JSON document",
                "{\"a\":1,\"a\":2}               | uplicate",
                "{\"b\":{\"a\":1,\"a\":2}}       | uplicate",
                "{\"a\":tru}                     | the JSON is malformed",
                "{'a':1}                         | the JSON is malformed",
            })
    void refusesJsonThatIsNotOneStrictObject(String json, String sentence) throws IOException {
        write("config.json", json);
        assertThatThrownBy(() -> Checkpoints.open(folder))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("config.json")
                .hasMessageContaining(sentence);
    }

    @Test
    void refusesBombsInJson() throws IOException {
        for (String bomb : List.of(
                "[".repeat(100_000),
                "{\"a\":".repeat(100_000),
                "{\"a\":" + "1".repeat(1_000_000) + "}",
                "{\"a\":-0." + "1".repeat(1_000_000) + "}",
                "{\"" + "k".repeat(1 << 17) + "\":1}")) {
            write("config.json", bomb);
            assertThatThrownBy(() -> Checkpoints.open(folder))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("config.json: at byte ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e400", "9223372036854775808", "1.5", "\"7\"", "true", "NaN", "[[1]]"})
    void refusesWhatIsNoInteger(String value) throws IOException {
        write("config.json", "{\"a\":" + value + "}");
        try (var checkpoint = Checkpoints.open(folder)) {
            assertThatThrownBy(() -> checkpoint.config().longInteger("a"))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("config.json: a is ");
            InMemory.readAll(checkpoint.config());
        }
    }

    @Test
    void refusesAJsonFileThatIsTooLong() throws IOException {
        Path file = write("config.json", "{}");
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            channel.position(StrictJson.LARGEST_FILE).write(ByteBuffer.wrap(new byte[1])); // sparse
        }
        assertThatThrownBy(() -> Checkpoints.open(folder)).hasMessageContaining("more than the limit of 67108864");
    }

    @Test
    void findsTheChatTemplateInEachOfItsPlaces() throws IOException {
        write("config.json", "{}");
        write("tokenizer_config.json", "{\"chat_template\":\"inside\"}");
        assertThat(template("default")).isEqualTo("inside");
        write(
                "tokenizer_config.json",
                "{\"chat_template\":[{\"name\":\"tool_use\",\"template\":\"T\"},"
                        + "{\"name\":\"default\",\"template\":\"D\"}]}");
        assertThat(template("default")).isEqualTo("D");
        assertThat(template("tool_use")).isEqualTo("T");
        write("tokenizer_config.json", "{\"chat_template\":[{\"name\":\"only\",\"template\":\"O\"}]}");
        assertThat(template("default")).isEqualTo("O");
        write("chat_template.json", "{\"chat_template\":\"json\"}");
        assertThat(template("default")).isEqualTo("json");
        write("chat_template.jinja", "jinja");
        assertThat(template("default")).isEqualTo("jinja");
        assertThat(template("only")).isEqualTo("O");
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "{}", "[7]", "[{\"name\":\"x\"}]", "[{\"name\":1,\"template\":\"x\"}]"})
    void refusesAChatTemplateOfAnotherShape(String value) throws IOException {
        write("config.json", "{}");
        write("tokenizer_config.json", "{\"chat_template\":" + value + "}");
        try (var checkpoint = Checkpoints.open(folder)) {
            assertThatThrownBy(checkpoint::chatTemplate)
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("chat_template is ");
        }
    }

    @Test
    void opensOneSafetensorsFileAlone() throws IOException {
        Path file = writeTensors("weights.safetensors", "a");
        try (var checkpoint = Checkpoints.open(file)) {
            assertThat(checkpoint.tensors()).containsKey("a");
            assertThat(checkpoint.config().keys()).isEmpty();
            assertThat(checkpoint.source()).isEqualTo(file);
            assertThatThrownBy(() -> checkpoint.config().string("model_type"))
                    .hasMessageContaining("config.json (absent) has no field model_type");
        }
    }

    @Test
    void refusesPicklesInOneSentence() throws IOException {
        write("config.json", "{}");
        write("pytorch_model.bin", "PK");
        assertThatThrownBy(() -> Checkpoints.open(folder)).hasMessageContaining("convert the model to safetensors");
    }

    @Test
    void makesTheTokenizerOfAFolderAndOfItsFileAlone() throws IOException {
        Path file = write(
                "tokenizer.json",
                "{\"version\":\"1.0\",\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"model\":{\"type\":\"WordLevel\","
                        + "\"vocab\":{\"a\":0,\"b\":1,\"?\":2},\"unk_token\":\"?\"}}");
        for (Path path : List.of(folder, file)) {
            try (var checkpoint = Checkpoints.open(path)) {
                assertThat(checkpoint.tokenizer().encode("b a c", EncodeOptions.PLAIN))
                        .containsExactly(1, 0, 2);
                assertThat(checkpoint.tensors()).isEmpty();
            }
        }
        Files.delete(file);
        write("config.json", "{}");
        try (var checkpoint = Checkpoints.open(folder)) {
            assertThatThrownBy(checkpoint::tokenizer)
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("has neither tokenizer.json nor tokenizer.model");
        }
    }

    @Test
    void saysWhatIsMissing() throws IOException {
        assertThatThrownBy(() -> Checkpoints.open(folder)).hasMessageContaining("holds no model: expected config.json");
        assertThatThrownBy(() -> Checkpoints.open(folder.resolve("none.gguf")))
                .hasMessageContaining("none.gguf does not exist")
                .hasCauseInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Checkpoints.open(write("readme.txt", "hello")))
                .hasMessageContaining("readme.txt is no model: expected a folder, .gguf");
        Files.createDirectory(folder.resolve("config.json"));
        assertThatThrownBy(() -> Checkpoints.open(folder)).hasMessageContaining("config.json is not a regular file");
    }

    private String template(String name) {
        try (var checkpoint = Checkpoints.open(folder)) {
            return checkpoint.chatTemplate(name).orElseThrow();
        }
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private Path writeIndex(String map) throws IOException {
        return write("model.safetensors.index.json", "{\"metadata\":{\"total_size\":16},\"weight_map\":" + map + "}");
    }

    private Path writeTensors(String file, String... names) throws IOException {
        List<Tensor> tensors = List.of(names).stream()
                .map(name -> new Tensor(name, DataType.F32, Shape.of(2), MemorySegment.ofArray(new byte[8])))
                .toList();
        return Files.write(folder.resolve(file), SafetensorsWriter.toBytes(tensors));
    }

    @Test
    void readsInfinityAsTransformersWritesIt() {
        byte[] json = "{\"limit\": [0.5, {\"__float__\": \"Infinity\"}], \"other\": [{\"__float__\": \"1\"}]}"
                .getBytes(StandardCharsets.UTF_8);
        var metadata = JsonMetadata.parse("config.json", json);
        assertThat(metadata.numbers("limit")).containsExactly(0.5f, Float.POSITIVE_INFINITY);
        assertThatThrownBy(() -> metadata.numbers("other"))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("not a number");
    }
}
