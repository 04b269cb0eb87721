package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class QuantizeCommandTest {
    private record Outcome(int status, String out, String err) {}

    @TempDir
    private Path folder;

    @Test
    @Tag("long")
    void writesAModelThatComparesWithItsSource() throws IOException {
        Path text = folder.resolve("text.txt");
        Files.writeString(text, "Once upon a time there was a little bear who liked honey. ".repeat(12));
        Path target = folder.resolve("small.gguf");
        Outcome quantized = roselle("quantize", "demo", target.toString(), "--type", "q4_0", "--allow-requantize");
        assertThat(quantized.status()).as(quantized.err()).isZero();
        assertThat(quantized.out())
                .containsPattern("small.gguf: 4\\.4 MB in 74 tensors, 4\\.8[0-9] bits for each number");
        assertThat(quantized.err()).contains("[74/74] ").contains("q8_0 → q4_0");

        String[] compare = {"compare", "demo", target.toString(), "--text", text.toString(), "--context", "32"};
        Outcome table = roselle(compare);
        assertThat(table.status()).as(table.err()).isZero();
        assertThat(table.out())
                .containsPattern("KL mean +0\\.[0-9]{6}\n")
                .containsPattern("size +7\\.8 MB +4\\.4 MB\n");
        JsonNode json = JsonMapper.shared()
                .readTree(roselle(
                                "compare",
                                "demo",
                                target.toString(),
                                "--text",
                                text.toString(),
                                "--context",
                                "32",
                                "--json")
                        .out());
        assertThat(json.get("kl_mean").asDouble()).isBetween(1e-4, 0.5);
        assertThat(json.get("kl_p99").asDouble())
                .isGreaterThan(json.get("kl_mean").asDouble());
        assertThat(json.get("model").get("perplexity").asDouble()).isBetween(1.0, 100.0);
        JsonNode same = JsonMapper.shared()
                .readTree(roselle("compare", "demo", "demo", "--text", text.toString(), "--context", "32", "--json")
                        .out());
        assertThat(same.get("kl_max").asDouble()).isZero();
        assertThat(same.get("top1_agreement").asDouble()).isEqualTo(1);
    }

    @Test
    @Tag("long")
    void findsOutWhichColumnsMatterAndMindsThem() throws IOException {
        Path text = folder.resolve("text.txt");
        Files.writeString(text, "Once upon a time there was a little bear who liked honey. ".repeat(12));
        Path matrix = folder.resolve("imatrix.gguf");
        Outcome found = roselle("imatrix", "demo", matrix.toString(), "--text", text.toString(), "--context", "64");
        assertThat(found.status()).as(found.err()).isZero();
        assertThat(found.out()).containsPattern("imatrix\\.gguf: 57 matrices, [0-9]+ windows of 64 tokens\n");
        Path plain = folder.resolve("plain.gguf");
        Path minding = folder.resolve("minding.gguf");
        roselle("quantize", "demo", plain.toString(), "--type", "q4_0", "--allow-requantize", "--pure");
        Outcome outcome = roselle(
                "quantize",
                "demo",
                minding.toString(),
                "--type",
                "q4_0",
                "--allow-requantize",
                "--pure",
                "--imatrix",
                matrix.toString());
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.err()).doesNotContain("knows nothing");
        assertThat(divergence(minding, text)).isLessThan(divergence(plain, text));
    }

    private static double divergence(Path model, Path text) {
        Outcome outcome =
                roselle("compare", "demo", model.toString(), "--text", text.toString(), "--context", "64", "--json");
        return JsonMapper.shared().readTree(outcome.out()).get("kl_mean").asDouble();
    }

    @Test
    void listsWhatItWouldWrite() {
        Outcome outcome = roselle(
                "quantize",
                "demo",
                "--type",
                "q4_k_m",
                "--tensor-type",
                "ffn_up=q6_k",
                "--allow-requantize",
                "--dry-run");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .containsPattern("blk\\.0\\.ffn_up\\.weight +\\[768, 256] +q8_0 → q6_k, 161\\.3 kB\n")
                .containsPattern("blk\\.0\\.attn_norm\\.weight +\\[256] +f32, 1\\.0 kB\n")
                .containsPattern(" bits for each number\n$");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void listsWhatItWouldMakeOfAFolder() {
        String models = "../roselle-engine/src/test/resources/tiny-models/";
        Outcome outcome = roselle("quantize", models + "qwen2", "--type", "q8_0", "--dry-run");
        assertThat(outcome.status()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .containsPattern("blk\\.0\\.ffn_up\\.weight +\\[112, 64] +bf16 → q8_0, 7\\.6 kB\n")
                .containsPattern("blk\\.0\\.attn_q\\.bias +\\[64] +f32, 256 B\n");
        Outcome refused = roselle("quantize", models + "olmo2", "--type", "q8_0", "--dry-run");
        assertThat(refused.status()).isEqualTo(65);
        assertThat(refused.err()).contains("models of type olmo2 are not converted from safetensors");
    }

    @Test
    void writesAFolderOfSafetensors() {
        String model = "../roselle-engine/src/test/resources/tiny-models/qwen2";
        Outcome listed = roselle("quantize", model, "--type", "fp8", "--dry-run");
        assertThat(listed.status()).as(listed.err()).isZero();
        assertThat(listed.out())
                .containsPattern("model\\.layers\\.0\\.mlp\\.up_proj\\.weight +\\[112, 64] +bf16 → fp8, 7\\.6 kB\n")
                .containsPattern("model\\.embed_tokens\\.weight +\\[320, 64] +bf16, 41\\.0 kB\n")
                .containsPattern(" bits for each number\n$");
        assertThat(folder).isEmptyDirectory();
        Path target = folder.resolve("small");
        Outcome written = roselle("quantize", model, target.toString(), "--type", "fp8_block", "--threads", "1");
        assertThat(written.status()).as(written.err()).isZero();
        assertThat(written.err()).contains("[1/").contains("bf16 → fp8_block").doesNotContain("done before");
        assertThat(written.out()).contains(" bits for each number, in ");
        assertThat(roselle("inspect", target.toString()).out()).contains("f8_e4m3 with a scale for each 128×128");
        Outcome again = roselle("quantize", model, target.toString(), "--type", "fp8_block");
        assertThat(again.status()).as(again.err()).isZero();
        assertThat(again.err().lines()).allMatch(line -> line.endsWith(", done before"));
    }

    @Test
    void refusesWhatFoldersDoWithout() throws IOException {
        String model = "../roselle-engine/src/test/resources/tiny-models/qwen2";
        String target = folder.resolve("small").toString();
        for (String[] option : new String[][] {
            {"--imatrix", "x.gguf"}, {"--tensor-type", "up=q8_0"}, {"--pure"}, {"--allow-requantize"}
        }) {
            var arguments = new ArrayList<>(List.of("quantize", model, target, "--type", "fp8"));
            arguments.addAll(List.of(option));
            Outcome refused = roselle(arguments.toArray(String[]::new));
            assertThat(refused.status()).isEqualTo(2);
            assertThat(refused.err())
                    .contains(option[0] + " is of GGUF; --type fp8 writes safetensors, and does without");
        }
        assertThat(roselle("quantize", model, "--type", "fp8").err()).contains("OUT is missing");
        assertThat(roselle("quantize", model, model, "--type", "fp8").err()).contains("OUT is IN, or in it");
        assertThat(roselle("quantize", model, model + "/new", "--type", "fp8").err())
                .contains("OUT is IN, or in it");
        Path file = Files.writeString(folder.resolve("file"), "");
        assertThat(roselle("quantize", model, file.toString(), "--type", "fp8").err())
                .contains("OUT is a file; name a folder");
        Outcome demo = roselle("quantize", "demo", target, "--type", "fp8");
        assertThat(demo.status()).isEqualTo(65);
        assertThat(demo.err()).contains("is no folder of safetensors");
        Outcome narrow = roselle("quantize", model, target, "--type", "int4");
        assertThat(narrow.status()).isEqualTo(65);
        assertThat(narrow.err()).contains("no matrix of this model can become INT4");
        assertThat(folder.resolve("small")).doesNotExist();
    }

    @Test
    void refusesMisuse() {
        assertThat(roselle("quantize", "demo", "x.gguf", "--type", "q9").err())
                .contains("--type is q9, expected one of F32, F16, BF16");
        assertThat(roselle("quantize", "demo", "--type", "q4_0", "--allow-requantize")
                        .err())
                .contains("OUT is missing");
        assertThat(roselle("quantize", "demo", "x.gguf", "--type", "q4_0", "--tensor-type", "ffn=q9")
                        .err())
                .contains("q9 is no type of GGUF");
        assertThat(roselle("quantize", "demo", "x.gguf", "--type", "q4_0", "--tensor-type", "ffn(=q8_0")
                        .err())
                .contains("no regular expression");
        Outcome twice = roselle("quantize", "demo", "x.gguf", "--type", "q4_0");
        assertThat(twice.status()).isEqualTo(65);
        assertThat(twice.err()).contains("is q8_0; what is quantized already loses more");
    }

    @Test
    void refusesATextThatIsTooShort() throws IOException {
        Path text = folder.resolve("text.txt");
        Files.writeString(text, "Hello");
        Outcome outcome = roselle("compare", "demo", "demo", "--text", text.toString());
        assertThat(outcome.status()).isEqualTo(65);
        assertThat(outcome.err()).contains("fewer than a window of 512");
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
