package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.InvalidRequestException;
import roselle.jinja.ChatTemplate;
import roselle.testing.SharedData;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.format.TokenizerFixture;

/** The format of a model is the one that its chat template writes. */
final class FormatFinderTest {
    /** Around what a template writes for each call. */
    private static final String TEMPLATE = """
            {%%- for message in messages -%%}<|turn|>{{ message.role }}
            {%%- if message.tool_calls -%%}%s{%%- for call in message.tool_calls -%%}%s{%%- if not loop.last -%%}%s{%%- endif -%%}
            {%%- endfor -%%}%s{%%- else -%%}{{ message.content }}{%%- endif -%%}<|end|>{%%- endfor -%%}
            {%%- if add_generation_prompt -%%}<|turn|>assistant{%%- endif -%%}""".replace("\n            ", "");

    private static final String NAME = "{{ call.function.name }}";
    private static final String ARGUMENTS = "{{ call.function.arguments | tojson }}";
    private static final String EACH = "{%- for key, value in call.function.arguments.items() -%}";
    private static final String VALUE = "{{ value if value is string else value | tojson }}";
    private static final String JSON = "{\"name\": \"" + NAME + "\", \"arguments\": " + ARGUMENTS + "}";

    private static Tokenizer tokenizer() {
        return TokenizerFixture.ours(TokenizerFixture.json("gpt2"));
    }

    private static String found(String source) {
        return new FormatFinder(tokenizer(), source, Optional.of(ChatTemplate.compile("a template", source)))
                .find(FormatFinder.AUTO)
                .toolParser();
    }

    private static String template(String begin, String call, String separator, String end) {
        return TEMPLATE.formatted(begin, call, separator, end);
    }

    @Test
    void readsWhatTheTemplateWrites() {
        assertThat(found(template("", "<tool_call>\n" + JSON + "\n</tool_call>", "\n", "")))
                .isEqualTo("hermes");
        assertThat(found(template("<tool_calls>[", JSON, ", ", "]</tool_calls>")))
                .isEqualTo("jamba");
        assertThat(found(template("<tool_calls>\n", JSON, "\n", "\n</tool_calls>")))
                .isEqualTo("minimax_m1");
        assertThat(found(template("", "[TOOL_CALLS]" + NAME + "[ARGS]" + ARGUMENTS, "", "")))
                .isEqualTo("mistral_args");
        assertThat(found(template("[TOOL_CALLS][", JSON, ", ", "]"))).isEqualTo("mistral");
        assertThat(found(template("", "<|tool_call|>" + JSON, "", ""))).isEqualTo("roselle");
        assertThat(found(template("<|tool_call|>[", JSON, ", ", "]"))).isEqualTo("granite");
        assertThat(found(template(
                        "<|tool_calls_section_begin|>",
                        "<|tool_call_begin|>functions." + NAME + ":{{ loop.index0 }}<|tool_call_argument_begin|>"
                                + ARGUMENTS + "<|tool_call_end|>",
                        "",
                        "<|tool_calls_section_end|>")))
                .isEqualTo("kimi_k2");
        assertThat(found(template(
                        "",
                        "<tool_call>\n<function=" + NAME + ">\n" + EACH + "<parameter={{ key }}>\n" + VALUE
                                + "\n</parameter>\n{% endfor %}</function>\n</tool_call>",
                        "\n",
                        "")))
                .isEqualTo("qwen3_coder");
        assertThat(found(template(
                        "",
                        "<tool_call>" + NAME + EACH + "<arg_key>{{ key }}</arg_key><arg_value>" + VALUE
                                + "</arg_value>{%- endfor -%}</tool_call>",
                        "",
                        "")))
                .isEqualTo("glm47");
        String ns = "]<]minimax[>[";
        assertThat(found(template(
                        ns + "<tool_call>\n",
                        ns + "<invoke name=\"" + NAME + "\">" + EACH + ns + "<{{ key }}>" + VALUE + ns + "</{{ key }}>"
                                + "{%- endfor -%}" + ns + "</invoke>",
                        "\n",
                        "\n" + ns + "</tool_call>")))
                .isEqualTo("minimax_m3");
    }

    /** Where keys are entities, and texts are not. */
    @Test
    void readsElementsThatTellTheirTypes() {
        String named = "<cofl:value{% if key is not none %} name=\"{{ key | e }}\"{% endif %} type=\"";
        String macro = "{%- macro value(key, it) -%}{%- if it is string -%}" + named
                + "raw\">{{ it }}</cofl:value>{%- elif it is mapping -%}" + named
                + "dict\">{%- for each, inner in it.items() -%}{{ value(each, inner) }}{%- endfor -%}</cofl:value>"
                + "{%- elif it is sequence -%}" + named
                + "list\">{%- for inner in it -%}{{ value(none, inner) }}{%- endfor -%}</cofl:value>{%- else -%}"
                + named
                + "json\">{{ it | tojson }}</cofl:value>{%- endif -%}{%- endmacro -%}";
        String call = "<cofl:tool_call id=\"{{ loop.index0 }}\" name=\"" + NAME + "\">" + EACH
                + "{{ value(key, value_) }}{%- endfor -%}</cofl:tool_call>";

        assertThat(found(macro
                        + template(
                                "<cofl:tool_calls>",
                                call.replace("key, value in", "key, value_ in"),
                                "",
                                "</cofl:tool_calls>")))
                .isEqualTo("cohere_command5");
    }

    @Test
    void derivesAFormatThatNobodyKnows() {
        assertThat(found(template("", "<<call " + NAME + ">>" + ARGUMENTS + "<</call>>", "\n", "")))
                .isEqualTo("derived");
        assertThat(found(template("", "@@do {\"tool\": \"" + NAME + "\", \"input\": " + ARGUMENTS + "}@@", "", "")))
                .isEqualTo("derived");
        assertThat(found(template("((", "{\"fn\": \"" + NAME + "\", \"with\": " + ARGUMENTS + "}", "; ", "))")))
                .isEqualTo("derived");
    }

    @Test
    void derivesNothingWhereNoMarkIsBeforeCalls() {
        assertThat(found(template("", "I call " + NAME + " now.", "", ""))).isEqualTo("none");
    }

    /** As many released templates do, this one writes no calls, but says how they are written. */
    @Test
    void goesByTheWordsOfATemplateThatWritesNoCalls() {
        String source = "{{ 'List of tools: ' + messages[0].content }}";

        assertThat(found(source)).isEqualTo("lfm2");
    }

    @Test
    void knowsNoFormatOfATemplateThatKnowsNoTools() {
        assertThat(found("{{ messages[0].content }}")).isEqualTo("none");
    }

    @Test
    void takesTheFormatThatIsNamed() {
        var finder = new FormatFinder(tokenizer(), "", Optional.empty());

        assertThat(finder.find("mistral").toolParser()).isEqualTo("mistral");
        assertThat(finder.find("granite4").toolParser()).isEqualTo("hermes");
        assertThat(finder.find("none").canCall()).isFalse();
        assertThatThrownBy(() -> finder.find("hermez"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("hermez")
                .hasMessageContaining("hermes");
    }

    @Test
    void marksTextLikeCallsAlsoWithoutTools() {
        var finder = new FormatFinder(tokenizer(), ">>>all", Optional.empty());

        assertThat(finder.findWithoutTools().parser(">>>", List.of(), false).append("all\nHi"))
                .containsExactly(new AnswerPart.Text("Hi"));
        assertThat(new FormatFinder(tokenizer(), "<think></think>", Optional.empty())
                        .findWithoutTools()
                        .canCall())
                .isFalse();
    }

    @Test
    void findsMarksByTheTokensOfTheVocabulary() {
        var tokenizer = TokenizerFixture.ours(TokenizerFixture.json("qwen2"));
        var format = new FormatFinder(tokenizer, "", Optional.empty()).find(FormatFinder.AUTO);

        assertThat(format.toolParser()).isEqualTo("hermes");
        assertThat(format.endTokens())
                .containsExactlyInAnyOrder(
                        tokenizer.idOf("<|endoftext|>").orElseThrow(),
                        tokenizer.idOf("<|im_end|>").orElseThrow());
    }

    @Tag("shared-data")
    @ParameterizedTest
    @CsvSource({
        "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use, hermes, ''",
        "Qwen-Qwen2.5-7B-Instruct, hermes, ''",
        "deepseek-ai-DeepSeek-R1-Distill-Llama-8B, deepseek_v3, think",
        "meta-llama-Llama-3.1-8B-Instruct, llama3_json, ''",
        "mistralai-Mistral-Nemo-Instruct-2407, mistral, ''",
        "google-gemma-2-2b-it, none, ''",
        "microsoft-Phi-3.5-mini-instruct, none, ''"
    })
    void knowsReleasedTemplates(String name, String calls, String thoughts) throws IOException {
        String source = Files.readString(SharedData.path("templates/" + name + ".jinja"));
        var format = new FormatFinder(tokenizer(), source, Optional.of(ChatTemplate.compile(name, source)))
                .find(FormatFinder.AUTO);

        assertThat(format.toolParser()).isEqualTo(calls);
        assertThat(format.thoughts().name()).isEqualTo(thoughts);
    }

    @Test
    void goesOnWithWhatThePromptBegan() {
        var tokenizer = TokenizerFixture.ours(TokenizerFixture.json("qwen2"));
        var format = new FormatFinder(tokenizer, "<think></think>", Optional.empty()).find("hermes");
        int[] open = tokenizer.encode("<think>\n", new roselle.tokenizer.EncodeOptions(false, true));
        int[] closed = tokenizer.encode("<think>\n\n</think>\n", new roselle.tokenizer.EncodeOptions(false, true));
        List<Map<String, Object>> tools = List.of();

        assertThat(format.parser(tokenizer, open, tools).append("hm")).containsExactly(new AnswerPart.Thought("hm"));
        assertThat(format.parser(tokenizer, closed, tools).append("so")).containsExactly(new AnswerPart.Text("so"));
    }
}
