package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.cli.Main;
import tools.jackson.databind.json.JsonMapper;

final class InspectCommandTest {
    private static final String CONFIG = """
            {"model_type":"llama","num_hidden_layers":3,"num_attention_heads":4,"num_key_value_heads":2,\
            "hidden_size":32,"max_position_embeddings":2048,"vocab_size":100}""";

    private record Outcome(int status, String out, String err) {}

    @TempDir
    private Path folder;

    @Test
    void tellsWhatTheModelIsAndNeeds() throws IOException {
        writeModel(CONFIG);
        Outcome outcome = roselle("inspect", folder.toString(), "--tensors");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out())
                .containsPattern("architecture +llama\n")
                .containsPattern("parameters +14\n")
                .containsPattern("formats +f32: 6 in 1 tensors of 24 B, f16: 8 in 1 tensors of 16 B\n")
                .containsPattern("context +2,048 tokens\n")
                .containsPattern("vocabulary +100 tokens\n")
                .containsPattern("chat template +no\n")
                .containsPattern("memory +weights 40 B; KV 192 B per token in 16 bits, 384.0 KiB for a full context\n")
                .containsPattern(
                        "products +[a-z0-9]+ \\(.+\\): f32 in float32( by AVX-512)?, f16 in float32( by AVX-512)?\n")
                .containsPattern("f16 +\\[8\\] +b\n");
    }

    @Test
    void tellsHowMatricesAreStored() {
        String model = "../roselle-engine/src/test/resources/variant-models/qwen3-fp8";
        assertThat(roselle("inspect", model).out())
                .containsPattern("quantization +f8_e4m3 with a scale for each 128.128\n")
                .containsPattern("supported +yes\n");
        assertThat(roselle("inspect", "--json", model).out())
                .contains("\"quantization\":\"f8_e4m3 with a scale for each 128×128\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                qwen3-fp8     | 255,408 | bf16: 26,928 in 11 tensors of 52.6 KiB, f8_e4m3: 228,480 in 14 tensors of 223.2 KiB
                gpt-oss-mxfp4 | 50,670  | bf16: 13,806 in 33 tensors of 27.0 KiB, mxfp4: 36,864 in 4 tensors of 19.1 KiB
                """)
    void countsNumbersAndNotTheirScales(String model, String parameters, String formats) {
        assertThat(roselle("inspect", "../roselle-engine/src/test/resources/variant-models/" + model)
                        .out())
                .containsPattern("parameters +" + parameters + "\n")
                .containsPattern("formats +" + formats + "\n");
    }

    @Test
    void tellsHowAForcedPathMultiplies() throws IOException {
        writeModel(CONFIG);
        assertThat(roselle("inspect", "--cpu", "vector", folder.toString()).out())
                .containsPattern("products +vector \\(asked for\\): f32 in float32, f16 in float32\n");
        assertThat(roselle("inspect", "--cpu", "mmx", folder.toString()).err())
                .contains("the path of the CPU is mmx: it must be one of auto, vector");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--cpu=fast", "--compute=f17"})
    void refusesAPathAndAPrecisionThatThereAreNotAsMisuse(String option) throws IOException {
        writeModel(CONFIG);
        Outcome outcome = roselle("inspect", option, folder.toString());
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("it must be");
    }

    @Test
    void takesAnEmptyPathForNone() throws IOException {
        writeModel(CONFIG);
        assertThat(roselle("inspect", "--cpu=", folder.toString()).status()).isZero();
    }

    @Test
    void tellsStatesFromKeysAndValues() throws IOException {
        String model = "../roselle-engine/src/test/resources/tiny-models/qwen3_5";
        assertThat(roselle("inspect", model).out())
                .containsPattern("KV 128 B per token in 16 bits, .*; states 9.0 KiB per sequence in 32 bits\n");
        var memory = JsonMapper.shared()
                .readTree(roselle("inspect", "--json", model).out())
                .get("memory");
        int states = 3 * 4 * 12 * 16 * Float.BYTES; // layers, heads, keys, values
        assertThat(memory.get("state_bytes_per_sequence").intValue()).isEqualTo(states);
        assertThat(memory.get("kv_groups").get(1).get("state_bytes").intValue()).isEqualTo(states);
        assertThat(memory.get("kv_groups").get(2).get("state_bytes").intValue()).isZero();
    }

    @Test
    void printsTheSameAsJson() throws IOException {
        writeModel(CONFIG);
        Files.writeString(folder.resolve("chat_template.jinja"), "{{ messages }}");
        var json = JsonMapper.shared()
                .readTree(roselle("inspect", "--json", folder.toString()).out());
        assertThat(json.get("architecture").stringValue()).isEqualTo("llama");
        assertThat(json.get("parameters").longValue()).isEqualTo(14);
        assertThat(json.get("context_length").intValue()).isEqualTo(2048);
        assertThat(json.get("chat_template").booleanValue()).isTrue();
        assertThat(json.get("memory").get("weights_bytes").longValue()).isEqualTo(40);
        assertThat(json.get("memory").get("kv_bytes_per_token").longValue()).isEqualTo(192);
        assertThat(json.get("bytes_on_disk").longValue()).isEqualTo(Files.size(folder.resolve("model.safetensors")));
        assertThat(json.get("tensors").size()).isEqualTo(2);
        assertThat(json.get("tensors").get(0).get("shape").toString()).isEqualTo("[2,3]");
    }

    @Test
    void saysUnknownRatherThanGuess() throws IOException {
        writeModel("{}");
        assertThat(roselle("inspect", folder.toString()).out())
                .containsPattern("architecture +unknown\n")
                .containsPattern("context +unknown\n")
                .containsPattern("supported +no: .*config.json")
                .contains("KV unknown");
    }

    @Test
    void countsNoMoreThanTheWindowOfLayersThatHaveOne() throws IOException {
        writeModel("""
                {"model_type":"mistral","num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,\
                "hidden_size":32,"intermediate_size":64,"max_position_embeddings":2048,"vocab_size":100,\
                "rms_norm_eps":1e-5,"sliding_window":128,"hidden_act":"silu"}""");
        Outcome outcome = roselle("inspect", folder.toString());
        assertThat(outcome.out())
                .containsPattern("supported +yes\n")
                .contains("KV 128 B per token in 16 bits, 16.0 KiB for a full context");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "num_attention_heads | 0             | num_attention_heads is 0, which is not from 1",
                "num_hidden_layers   | 1000000000    | num_hidden_layers is 1000000000, which is not from 1 to 10000",
                "hidden_size         | -1            | hidden_size is -1",
                "vocab_size          | 99999999999   | vocab_size is 99999999999",
                "num_key_value_heads | 2.5           | num_key_value_heads is 2.5, not an integer",
            })
    void refusesSizesThatNoModelHas(String key, String value, String sentence) throws IOException {
        writeModel(CONFIG.replaceFirst("\"" + key + "\":[0-9]+", "\"" + key + "\":" + value));
        Outcome outcome = roselle("inspect", folder.toString());
        assertThat(outcome.status()).isEqualTo(65);
        assertThat(outcome.err()).contains(sentence).doesNotContain("Exception").hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void tellsBadDataFromWhatIsNotThere() throws IOException {
        assertThat(roselle("inspect", folder.resolve("none").toString()).status())
                .isEqualTo(66);
        Path file = Files.write(folder.resolve("m.gguf"), new byte[0]);
        Outcome outcome = roselle("inspect", file.toString());
        assertThat(outcome.status()).isEqualTo(65);
        assertThat(outcome.err())
                .isEqualTo("roselle: " + file + ": at byte 0, magic needs 4 bytes: the file ends at byte 0"
                        + System.lineSeparator());
    }

    private void writeModel(String config) throws IOException {
        Files.writeString(folder.resolve("config.json"), config);
        byte[] header = """
                {"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},\
                "b":{"dtype":"F16","shape":[8],"data_offsets":[24,40]}}""".getBytes(StandardCharsets.UTF_8);
        var bytes = ByteBuffer.allocate(8 + header.length + 40).order(ByteOrder.LITTLE_ENDIAN);
        Files.write(
                folder.resolve("model.safetensors"),
                bytes.putLong(header.length).put(header).array());
    }

    private static Outcome roselle(String... arguments) {
        var out = new StringWriter();
        var err = new StringWriter();
        int status = Main.commandLine(arguments)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
        return new Outcome(status, out.toString(), err.toString());
    }
}
