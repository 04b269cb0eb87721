package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.cli.Main;
import roselle.cli.TinyModels;
import roselle.hub.BundledModel;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code roselle run} with one prompt, as a script sees it, on a tiny model that answers nonsense, but always the same. */
final class RunCommandTest {
    private record Outcome(int status, String out, String err) {}

    /** Writes each message in angle brackets, and asks for an answer after a {@code =}. */
    private static final String TEMPLATE =
            "{% for m in messages %}<{{ m.role }}:{{ m.content }}>{% endfor %}{% if enable_thinking %}T{% endif %}=";

    @TempDir
    private Path folder;

    @Test
    void printsThePromptAndItsContinuation() throws IOException {
        Outcome outcome = raw("--temperature", "0", "--max-tokens", "8", "ab");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).startsWith("ab").endsWith("\n").hasSizeGreaterThan(4);
        assertThat(raw("--temperature", "0", "--max-tokens", "8", "--no-echo", "ab")
                        .out())
                .isEqualTo(outcome.out().substring(2));
    }

    @Test
    void setsThoughtsApartFromTheAnswer() throws IOException {
        Path demo = BundledModel.DEMO.unpackInto(folder);
        String[] options = {"--temperature", "0", "--max-tokens", "100", "--think"};
        assertThat(run(demo, options, "What is 12 + 30?").out())
                .matches("(?s)--- thinks ---\n.+\n--- answers ---\n.*42.*\n");
        String[] asJson = {"--temperature", "0", "--max-tokens", "100", "--think", "--output", "json"};
        JsonNode choice = JsonMapper.shared()
                .readTree(run(demo, asJson, "What is 12 + 30?").out())
                .at("/choices/0");
        assertThat(choice.at("/text").stringValue()).contains("42");
        assertThat(choice.at("/reasoning").stringValue()).isNotBlank();
    }

    @Test
    void holdsTheAnswerToASchemaOrAnExpression() throws IOException {
        Path demo = BundledModel.DEMO.unpackInto(folder);
        Path schema = Files.writeString(folder.resolve("schema.json"), "{\"enum\": [{\"a\": [1, true]}]}");
        String[] asJson = {"--json-schema", schema.toString(), "--temperature", "0"};
        assertThat(JsonMapper.shared().readTree(run(demo, asJson, "Write.").out()))
                .isEqualTo(JsonMapper.shared().readTree("{\"a\":[1,true]}"));
        String[] asDigits = {"--regex", "[0-9]{4}", "--temperature", "0"};
        assertThat(run(demo, asDigits, "Write.").out()).matches("[0-9]{4}\n");
        Path nested = Files.writeString(folder.resolve("nested.gbnf"), "root ::= \"(\" root \")\" | [xy]\n");
        String[] asNested = {"--grammar", nested.toString(), "--temperature", "0", "--max-tokens", "40"};
        assertThat(run(demo, asNested, "Write.").out()).matches("\\(*([xy]\\)*)?\n");
        Path lark = Files.writeString(folder.resolve("nested.lark"), "start: \"(\" start \")\" | /[xy]/\n");
        String[] asLark = {"--grammar", lark.toString(), "--temperature", "0", "--max-tokens", "40"};
        assertThat(run(demo, asLark, "Write.").out())
                .isEqualTo(run(demo, asNested, "Write.").out());
        String[] both = {"--regex", "a", "--json-schema", schema.toString()};
        assertThat(run(demo, both, "Write.").err()).contains("give one of them");
        String[] none = {"--json-schema", folder.resolve("none.json").toString()};
        assertThat(run(demo, none, "Write.").status()).isEqualTo(66);
        String[] wrong = {"--regex", "("};
        assertThat(run(demo, wrong, "Write."))
                .satisfies(outcome -> assertThat(outcome.status()).isEqualTo(65))
                .satisfies(outcome -> assertThat(outcome.err()).contains("the format cannot be kept to"));
    }

    @Test
    void joinsWordsThatWereNotQuoted() throws IOException {
        assertThat(raw("--max-tokens", "1", "a", "b").out()).startsWith("a b");
    }

    @Test
    void readsThePromptFromStandardInput() throws IOException {
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream("ab".getBytes(StandardCharsets.UTF_8)));
            Outcome outcome = raw("--temperature", "0", "--max-tokens", "8");
            assertThat(outcome).isEqualTo(raw("--temperature", "0", "--max-tokens", "8", "ab"));
            Outcome empty = raw();
            assertThat(empty.status()).isEqualTo(65);
            assertThat(empty.err()).contains("standard input is empty").hasLineCount(1);
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void printsIdsAsOneArrayForEachAnswer() throws IOException {
        String line = raw("--temperature", "0", "--max-tokens", "5", "--ignore-eos", "--output", "ids", "ab")
                .out();
        assertThat(line).matches("\\[\\d+(,\\d+){4}\\]\n");
        assertThat(raw("--temperature", "0", "--max-tokens", "5", "--ignore-eos", "--output", "ids", "--n", "3", "ab")
                        .out())
                .isEqualTo(line.repeat(3));
    }

    @Test
    void printsAnswersWithTheirLogprobsAndUsageAsJson() throws IOException {
        JsonNode answer = JsonMapper.shared()
                .readTree(raw(
                                "--temperature",
                                "0",
                                "--max-tokens",
                                "5",
                                "--ignore-eos",
                                "--output",
                                "json",
                                "--n",
                                "2",
                                "--logprobs",
                                "3",
                                "--prompt-logprobs",
                                "ab")
                        .out());
        assertThat(answer.get("choices").size()).isEqualTo(2);
        JsonNode first = answer.get("choices").get(0);
        assertThat(first).isEqualTo(answer.get("choices").get(1));
        assertThat(first.get("ids").size()).isEqualTo(5);
        assertThat(first.get("finish_reason").stringValue()).isEqualTo("length");
        JsonNode token = first.get("logprobs").get(4);
        assertThat(token.get("id")).isEqualTo(first.get("ids").get(4));
        assertThat(token.get("logprob").doubleValue()).isNegative();
        assertThat(token.get("top").size()).isEqualTo(3);
        assertThat(token.get("top").get(0).get("id")).isEqualTo(token.get("id"));
        assertThat(answer.get("prompt").get("ids").size())
                .isEqualTo(answer.get("usage").get("prompt_tokens").intValue());
        assertThat(answer.get("usage").get("completion_tokens").intValue()).isEqualTo(10);
    }

    @Test
    void numbersSeveralAnswers() throws IOException {
        Outcome outcome = raw("--temperature", "0", "--max-tokens", "4", "--n", "2", "ab");
        String answer = raw("--temperature", "0", "--max-tokens", "4", "ab").out();
        assertThat(outcome.out()).isEqualTo("--- 1 of 2 ---\n" + answer + "--- 2 of 2 ---\n" + answer);
    }

    @Test
    void repeatsWhatASeedDrew() throws IOException {
        String once = raw("--seed", "7", "--temperature", "2", "--max-tokens", "16", "ab")
                .out();
        assertThat(raw("--seed", "7", "--temperature", "2", "--max-tokens", "16", "ab")
                        .out())
                .isEqualTo(once);
        assertThat(raw("--seed", "8", "--temperature", "2", "--max-tokens", "16", "ab")
                        .out())
                .isNotEqualTo(once);
    }

    @Test
    void honoursEachSamplingOption() throws IOException {
        int likeliest = ids("--temperature", "0", "--max-tokens", "1")[0];
        assertThat(ids("--temperature", "5", "--top-k", "1", "--max-tokens", "1"))
                .containsExactly(likeliest);
        assertThat(ids("--temperature", "5", "--top-p", "0.000001", "--max-tokens", "1"))
                .containsExactly(likeliest);
        assertThat(ids("--temperature", "5", "--min-p", "1", "--max-tokens", "1"))
                .containsExactly(likeliest);
        assertThat(ids("--temperature", "0", "--logit-bias", likeliest + "=-100", "--max-tokens", "1")[0])
                .isNotEqualTo(likeliest);
        assertThat(ids("--temperature", "0", "--stop-token-id", "" + likeliest, "--max-tokens", "9"))
                .hasSizeLessThanOrEqualTo(1);
        assertThat(ids(
                        "--temperature",
                        "0",
                        "--stop-token-id",
                        "" + likeliest,
                        "--min-tokens",
                        "3",
                        "--max-tokens",
                        "9"))
                .hasSizeGreaterThanOrEqualTo(3);
    }

    @Test
    void endsBeforeAStopString() throws IOException {
        String whole = raw("--temperature", "0", "--max-tokens", "8", "--no-echo", "ab")
                .out()
                .strip();
        String stop = whole.substring(2, 4);
        assertThat(raw("--temperature", "0", "--max-tokens", "8", "--no-echo", "--stop", stop, "ab")
                        .out()
                        .strip())
                .isEqualTo(whole.substring(0, whole.indexOf(stop)).strip());
    }

    @Test
    void rendersTheChatTemplateWithSystemMessageAndThinking() throws IOException {
        Path model = model();
        Files.writeString(model.resolve("chat_template.jinja"), TEMPLATE);
        String[] options = {"--temperature", "0", "--max-tokens", "8"};
        String expected = run(model, options, "--raw", "--no-echo", "<system:x><user:ab>T=")
                .out();
        Outcome outcome = run(model, options, "--system", "x", "--think", "ab");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).isEqualTo(expected);
        assertThat(run(model, options, "--system", "x", "--no-think", "ab").out())
                .isEqualTo(run(model, options, "--raw", "--no-echo", "<system:x><user:ab>=")
                        .out());
    }

    @Test
    void drawsAsTheModelsMakersAdvise() throws IOException {
        Path model = model();
        Files.writeString(model.resolve("generation_config.json"), "{\"temperature\":5,\"top_k\":1}");
        String[] options = {"--raw", "--max-tokens", "8"};
        assertThat(run(model, options, "ab").out())
                .isEqualTo(run(model, options, "--temperature", "0", "ab").out());
        Files.writeString(model.resolve("generation_config.json"), "{\"temperature\":-1}");
        Outcome refused = run(model, options, "ab");
        assertThat(refused.status()).isEqualTo(65);
        assertThat(refused.err())
                .contains("generation_config.json")
                .contains("temperature is -1")
                .hasLineCount(1);
    }

    @Test
    void tellsPlanAndSpeedOnStandardErrorWhenVerbose() throws IOException {
        Outcome outcome = raw("--verbose", "--temperature", "0", "--max-tokens", "8", "--ignore-eos", "ab");
        assertThat(outcome.err())
                .contains(
                        "device     cpu",
                        "weights ",
                        "kv cache ",
                        "total ",
                        "start ",
                        "first token after ",
                        "tokens/s",
                        " 0 cached");
        assertThat(outcome.out())
                .isEqualTo(raw("--temperature", "0", "--max-tokens", "8", "--ignore-eos", "ab")
                        .out());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--temperature=-1        | temperature is -1: it must be between 0 and 100",
                "--temperature=NaN       | temperature is NaN",
                "--top-p=0               | top_p is 0",
                "--n=0                   | n is 0",
                "--max-tokens=0          | max_tokens is 0",
                "--max-tokens=2147483648 | '2147483648' is not a whole number below 2147483648",
                "--stop=                 | length of a stop string is 0",
                "--logit-bias=1          | logit-bias",
                "--logprobs=2            | need --output json",
                "--system=x              | which --raw goes without",
                "--kv-memory=2X          | '2X' is not a size",
                "--kv-type=f8            | kv type is f8",
                "--threads=-1            | threads is -1",
                "--temprature=0          | --temperature",
                "--output=xml            | xml",
            })
    void refusesMisuseInOneSentence(String option, String sentence) throws IOException {
        Outcome outcome = raw(option, "ab");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains(sentence).doesNotContain("Exception");
        assertThat(outcome.err().lines().count()).isLessThanOrEqualTo(2);
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void asksForRawWhereThereIsNoChatTemplate() throws IOException {
        Outcome outcome = run(model(), new String[0], "ab");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("has no chat template: add --raw");
    }

    @Test
    void refusesToThinkWhereTheTemplateCannot() throws IOException {
        Path model = model();
        Files.writeString(model.resolve("chat_template.jinja"), "{{ messages[0].content }}");
        Outcome outcome = run(model, new String[0], "--think", "ab");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("knows no enable_thinking");
    }

    @Test
    void namesBothNumbersOfAContextThatIsFull() throws IOException {
        Outcome outcome = raw("--context", "32", "a b".repeat(100));
        assertThat(outcome.status()).isEqualTo(65);
        assertThat(outcome.err())
                .contains("the prompt has ")
                .containsPattern("context holds \\d+")
                .hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void namesBothNumbersOfMemoryThatIsShort() throws IOException {
        Outcome outcome = raw("--context", "100000", "--kv-memory", "1M", "ab");
        assertThat(outcome.status()).isEqualTo(69);
        assertThat(outcome.err())
                .contains("a context of 100000 tokens needs ", "the largest context that fits is ")
                .hasLineCount(1);
    }

    /** Its file is all hole: nobody has read a byte of it when it is refused. */
    @Test
    void namesBothNumbersOfAModelTooLargeForTheMachine() throws IOException {
        Path large = TinyModels.writeOfTerabytes(folder.resolve("large"));
        Outcome outcome = roselle("run", large.toString(), "--raw", "ab");
        assertThat(outcome.status()).as(outcome.err()).isEqualTo(69);
        assertThat(outcome.err())
                .containsPattern(
                        "needs .* of KV cache and \\d+\\.\\d+ GiB in all, but there are .* and \\d+\\.\\d+ GiB")
                .contains("use a smaller model")
                .hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void suggestsTheModelThatWasMeant() throws IOException {
        model();
        Outcome outcome = roselle("run", folder.resolve("modle").toString(), "--raw", "ab");
        assertThat(outcome.status()).isEqualTo(66);
        assertThat(outcome.err())
                .contains("modle: no such file or folder; did you mean model?")
                .hasLineCount(1);
        assertThat(roselle("run", folder.resolve("nowhere/xyz").toString(), "ab")
                        .status())
                .isEqualTo(66);
        assertThat(roselle("run", "Org/Name-1B:Q4_K_M", "ab").err())
                .as("a name on the hub")
                .contains("on the Hugging Face hub is hf:Org/Name-1B:Q4_K_M")
                .hasLineCount(1);
        InputStream before = System.in;
        try {
            System.setIn(InputStream.nullInputStream());
            assertThat(roselle("run", folder.resolve("modle").toString()).err())
                    .as("though there is no prompt either")
                    .contains("did you mean model?");
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void namesADeviceThatIsNotThere() throws IOException {
        Outcome outcome = raw("--device", "tpu", "ab");
        assertThat(outcome.status()).isEqualTo(69);
        assertThat(outcome.err()).contains("there is no device tpu").hasLineCount(1);
    }

    /** Something like a model, with a tokenizer: 24 of them lie in the engine's tests. */
    private Path model() throws IOException {
        Path model = folder.resolve("model");
        if (!Files.exists(model)) {
            TinyModels.copyWithTokenizer(model);
        }
        return model;
    }

    private int[] ids(String... options) throws IOException {
        String[] all = new String[options.length + 3];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = "--output";
        all[options.length + 1] = "ids";
        all[options.length + 2] = "ab";
        return JsonMapper.shared().readValue(raw(all).out(), int[].class);
    }

    private Outcome raw(String... rest) throws IOException {
        return run(model(), new String[] {"--raw"}, rest);
    }

    private static Outcome run(Path model, String[] options, String... rest) {
        var arguments = new ArrayList<String>(List.of("run", model.toString()));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of(rest));
        return roselle(arguments.toArray(String[]::new));
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
