package roselle.conversation.format;

import static roselle.conversation.format.CallFormat.elements;
import static roselle.conversation.format.CallFormat.json;
import static roselle.conversation.format.CallFormat.jsonArray;
import static roselle.conversation.format.CallFormat.python;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import roselle.conversation.format.Element.Ignored;
import roselle.conversation.format.Element.Json;
import roselle.conversation.format.Element.Maybe;
import roselle.conversation.format.Element.Name;
import roselle.conversation.format.Element.Parameters;
import roselle.conversation.format.Element.ValueBegin;
import roselle.conversation.format.Element.ValueType;
import roselle.conversation.format.Layout.JsonObject;

/** All formats of calls that are known; a new one is an entry here. Names are those that servers of these models use. */
public final class CallFormats {
    private static final Name NAME = Name.PLAIN;
    private static final Json JSON = new Json("");

    private CallFormats() {}

    private static final List<CallFormat> JSON_OBJECTS = List.of(
            json("roselle", "<|tool_call|>", "arguments", ""),
            json("hermes", "<tool_call>\n", "arguments", "\n</tool_call>").between("\n"),
            json("longcat", "<longcat_tool_call>\n", "arguments", "\n</longcat_tool_call>")
                    .between("\n"),
            json("qwen2_5_coder", "<tools>\n", "arguments", "\n</tools>").between("\n"),
            json("granite_20b_fc", "<function_call> ", "arguments", "").between("\n"),
            json("internlm", "<|action_start|><|plugin|>\n", "parameters", "<|action_end|>"),
            json("gigachat3", "<|message_sep|>\n\nfunction call<|role_sep|>\n", "arguments", "")
                    .orBegins("function call<|role_sep|>\n"),
            json("gigachat3_1", "<|function_call|>", "arguments", ""),
            json("inkling", "<|content_invoke_tool_json|>", "args", "<|end_message|>")
                    .between("<|message_model|>"),
            json("minimax_m1", "", "arguments", "").section("<tool_calls>\n", "\n", "\n</tool_calls>"),
            json("llama3_json", "", "parameters", "")
                    .signs("<|start_header_id|>", "\"parameters\": ")
                    .between("; ")
                    .orBegins("<|python_tag|>")
                    .bare());

    private static final List<CallFormat> JSON_ARRAYS = List.of(
            jsonArray("mistral", "[TOOL_CALLS]", "arguments", "")
                    .layout(new JsonObject("name", List.of("arguments", "parameters"), "id"))
                    .ids(CallIds.NINE),
            jsonArray("nemotron_json", "<TOOLCALL>", "arguments", "</TOOLCALL>"),
            jsonArray("jamba", "<tool_calls>", "arguments", "</tool_calls>"),
            jsonArray("hunyuan_a13b", "<tool_calls>", "arguments", "</tool_calls>"),
            jsonArray("apriel", "<tool_calls>", "arguments", "</tool_calls>"),
            jsonArray("phi4_mini_json", "functools", "arguments", "")
                    .signs("functools")
                    .orBegins(" functools"),
            jsonArray("phi4", "<|tool_call|>", "arguments", "<|/tool_call|>").signs("<|/tool_call|>", "<|end|>"),
            jsonArray("granite", "<|tool_call|>", "arguments", "").signs("<|tool_call|>", "<|start_of_role|>"),
            jsonArray("granite_3_1", "<tool_call>", "arguments", "").signs("<tool_call>[", "<|start_of_role|>"),
            jsonArray("openpangu", "[unused11]", "arguments", "[unused12]"),
            jsonArray("cohere_command3", "<|START_ACTION|>", "parameters", "<|END_ACTION|>")
                    .layout(new JsonObject("tool_name", List.of("parameters"), "tool_call_id"))
                    .ids(CallIds.INDEX),
            jsonArray("cohere_command_r", "Action: ```json\n", "parameters", "\n```")
                    .layout(new JsonObject("tool_name", List.of("parameters"), ""))
                    .signs("Action:", "tool_name")
                    .orBegins("Action:```json"),
            jsonArray("apertus", "<|tools_prefix|>", "", "<|tools_suffix|>").layout(new JsonObject("", List.of(), "")),
            jsonArray("xlam", "", "arguments", "").signs("xLAM").bare());

    private static final List<CallFormat> NAME_THEN_JSON = List.of(
            elements("mistral_args", "[TOOL_CALLS]", NAME, new Maybe("[CALL_ID]", new Element.Id()), "[ARGS]", JSON)
                    .signs("[TOOL_CALLS]", "[ARGS]")
                    .ids(CallIds.NINE),
            elements(
                            "deepseek_v3",
                            "<｜tool▁call▁begin｜>",
                            new Ignored("function"),
                            "<｜tool▁sep｜>",
                            NAME,
                            "\n```json\n",
                            JSON,
                            "\n```",
                            "<｜tool▁call▁end｜>")
                    .signs("<｜tool▁call▁begin｜>", "```json")
                    .section("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"),
            elements("deepseek_v31", "<｜tool▁call▁begin｜>", NAME, "<｜tool▁sep｜>", JSON, "<｜tool▁call▁end｜>")
                    .section("<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"),
            elements(
                            "kimi_k2",
                            "<|tool_call_begin|>",
                            new Name("functions.", ":", ""),
                            "<|tool_call_argument_begin|>",
                            JSON,
                            "<|tool_call_end|>")
                    .signs("<|tool_call_begin|>", "<|tool_call_argument_begin|>")
                    .section("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>")
                    .ids(CallIds.FUNCTION_INDEX),
            elements("functionary_v3_1", "<function=", NAME, ">", JSON, "</function>"),
            elements("functionary_v3_2", ">>>", new Name("", "", "all"), "\n", JSON)
                    .signs(">>>", "all"),
            elements(
                            "solar_open",
                            "<|tool_call:begin|>",
                            new Element.Id(),
                            "<|tool_call:name|>",
                            NAME,
                            "<|tool_call:args|>",
                            JSON,
                            "<|tool_call:end|>")
                    .section("<|tool_calls|>", "", "<|calls|>"),
            elements(
                            "plamo3",
                            "<|plamo:begin_tool_request:plamo|>",
                            "<|plamo:begin_tool_name:plamo|>",
                            NAME,
                            "<|plamo:end_tool_name:plamo|>",
                            "<|plamo:begin_tool_arguments:plamo|>",
                            JSON,
                            "<|plamo:end_tool_arguments:plamo|>",
                            "<|plamo:end_tool_request:plamo|>")
                    .section("<|plamo:begin_tool_requests:plamo|>", "", "<|plamo:end_tool_requests:plamo|>"),
            elements(
                            "mirothinker",
                            "<use_mcp_tool>\n",
                            "<server_name>",
                            new Ignored("tools"),
                            "</server_name>\n",
                            "<tool_name>",
                            NAME,
                            "</tool_name>\n",
                            "<arguments>\n",
                            JSON,
                            "\n</arguments>\n",
                            "</use_mcp_tool>")
                    .signs("<use_mcp_tool>")
                    .between("\n"),
            elements(
                            "openai",
                            "<|start|>assistant to=functions.",
                            NAME,
                            new Maybe("<|channel|>", new Ignored("commentary json")),
                            new Maybe("<|constrain|>", new Ignored("json")),
                            "<|message|>",
                            JSON,
                            "<|call|>")
                    .signs("<|channel|>", "to=functions.")
                    .orBegins(
                            "<|start|>assistant<|channel|>commentary to=functions.",
                            "<|start|>assistant<|channel|>analysis to=functions.",
                            "<|channel|>commentary to=functions.",
                            "<|channel|>analysis to=functions.",
                            "to=functions."));

    private static final List<CallFormat> PARAMETERS = List.of(
            elements(
                            "qwen3_coder",
                            "<tool_call>\n",
                            "<function=",
                            NAME,
                            ">\n",
                            bySchema("<parameter=", ">", "</parameter>\n", true),
                            "</function>\n",
                            "</tool_call>")
                    .signs("<function=", "<parameter=")
                    .between("\n"),
            elements(
                            "mimo_v2",
                            "<tool_call>\n",
                            "<function=",
                            NAME,
                            ">\n",
                            bySchema("<parameter=", ">", "</parameter>\n", false),
                            "</function>\n",
                            "</tool_call>")
                    .between("\n"),
            elements(
                            "seed_oss",
                            "<seed:tool_call>\n",
                            "<function=",
                            NAME,
                            ">\n",
                            bySchema("<parameter=", ">", "</parameter>\n", false),
                            "</function>\n",
                            "</seed:tool_call>")
                    .between("\n"),
            elements(
                            "step3",
                            "<｜tool_call_begin｜>",
                            new Ignored("function"),
                            "<｜tool_sep｜>",
                            "<steptml:invoke name=\"",
                            NAME,
                            "\">",
                            bySchema("<steptml:parameter name=\"", "\">", "</steptml:parameter>", false),
                            "</steptml:invoke>",
                            "<｜tool_call_end｜>")
                    .signs("steptml:")
                    .section("<｜tool_calls_begin｜>", "\n", "<｜tool_calls_end｜>"),
            elements(
                            "minimax_m2",
                            "<invoke name=\"",
                            NAME,
                            "\">\n",
                            bySchema("<parameter name=\"", "\">", "</parameter>\n", false),
                            "</invoke>")
                    .signs("minimax:tool_call", "<invoke name=")
                    .section("<minimax:tool_call>\n", "\n", "\n</minimax:tool_call>"),
            elements(
                            "minimax_m3",
                            "]<]minimax[>[<invoke name=\"",
                            NAME,
                            "\">",
                            new Element.Tags("]<]minimax[>["),
                            "]<]minimax[>[</invoke>")
                    .signs("]<]minimax[>[", "<invoke name=")
                    .section("]<]minimax[>[<tool_call>\n", "\n", "\n]<]minimax[>[</tool_call>"),
            elements(
                            "minicpm5",
                            "<function name=\"",
                            NAME,
                            "\">",
                            bySchema("<param name=\"", "\">", "</param>", false),
                            "</function>")
                    .signs("<function name=", "<param name="),
            elements(
                            "cohere_command5",
                            "<cofl:tool_call id=\"",
                            new Element.Id(),
                            "\" name=\"",
                            NAME,
                            "\">",
                            new Element.Values("<cofl:value", "</cofl:value>"),
                            "</cofl:tool_call>")
                    .signs("<cofl:tool_call ", "<cofl:value")
                    .section("<cofl:tool_calls>", "", "</cofl:tool_calls>")
                    .ids(CallIds.INDEX),
            dsml("deepseek_v32", "function_calls"),
            dsml("deepseek_v4", "tool_calls"),
            glm("glm45", "\n", "\n"),
            glm("glm47", "", ""),
            glm("poolside_v1", "\n", "\n"),
            elements(
                            "hy_v3",
                            "<tool_call>",
                            NAME,
                            "<tool_sep>\n",
                            new Parameters(
                                    "<arg_key>",
                                    "</arg_key>\n",
                                    List.of(new ValueBegin("<arg_value>", ValueType.BY_SCHEMA)),
                                    "</arg_value>\n",
                                    false),
                            "</tool_call>")
                    .signs("<tool_sep", "<arg_key")
                    .section("<tool_calls>\n", "\n", "\n</tool_calls>"),
            elements(
                            "kimi_k3",
                            "<|open|>call tool=\"",
                            NAME,
                            "\" index=\"",
                            new Ignored("1"),
                            "\"<|sep|>",
                            new Parameters(
                                    "<|open|>argument key=\"",
                                    "\" ",
                                    Stream.of("string", "number", "boolean", "null", "object", "array")
                                            .map(type -> new ValueBegin(
                                                    "type=\"" + type + "\"<|sep|>",
                                                    type.equals("string") ? ValueType.TEXT : ValueType.JSON))
                                            .toList(),
                                    "<|close|>argument<|sep|>",
                                    false),
                            "<|close|>call<|sep|>")
                    .signs("<|open|>", "argument")
                    .section("<|open|>tools<|sep|>", "", "<|close|>tools<|sep|>"));

    private static final List<CallFormat> GEMMA = List.of(
            elements("gemma4", "<|tool_call>", "call:", NAME, new Json("<|\"|>"), "<tool_call|>")
                    .signs("<|tool_call>"),
            elements(
                            "functiongemma",
                            "<start_function_call>",
                            "call:",
                            NAME,
                            new Json("<escape>"),
                            "<end_function_call>")
                    .signs("<start_function_call>"));

    private static final List<CallFormat> PYTHON = List.of(
            python("llama4_pythonic", "<|python_start|>[", ", ", "]<|python_end|>")
                    .signs("<|python_start|>"),
            python("olmo3", "<function_calls>\n", "\n", "\n</function_calls>").signs("<function_calls>"),
            python("lfm2", "<|tool_call_start|>[", ", ", "]<|tool_call_end|>")
                    .signs("List of tools: ")
                    .bare(),
            python("gemma3", "```tool_code\n", "\n", "\n```").signs("tool_code"),
            python("pythonic", "[", ", ", "]").signs("[func_name1(").bare());

    private static Parameters bySchema(String begin, String keyEnd, String end, boolean onLines) {
        return new Parameters(begin, keyEnd, List.of(new ValueBegin("", ValueType.BY_SCHEMA)), end, onLines);
    }

    /** DeepSeek's markup: each value says whether it is text or JSON. */
    private static CallFormat dsml(String name, String section) {
        return elements(
                        name,
                        "<｜DSML｜invoke name=\"",
                        NAME,
                        "\">\n",
                        new Parameters(
                                "<｜DSML｜parameter name=\"",
                                "\" ",
                                List.of(
                                        new ValueBegin("string=\"true\">", ValueType.TEXT),
                                        new ValueBegin("string=\"false\">", ValueType.JSON)),
                                "</｜DSML｜parameter>\n",
                                false),
                        "</｜DSML｜invoke>\n")
                .signs("DSML", section)
                .section("<｜DSML｜" + section + ">\n", "", "</｜DSML｜" + section + ">");
    }

    private static CallFormat glm(String name, String afterName, String between) {
        return elements(
                        name,
                        "<tool_call>",
                        NAME,
                        new Parameters(
                                afterName + "<arg_key>",
                                "</arg_key>" + between,
                                List.of(new ValueBegin("<arg_value>", ValueType.BY_SCHEMA)),
                                "</arg_value>",
                                false),
                        between + "</tool_call>")
                .signs("<arg_key>", "<arg_value>")
                .between(between);
    }

    /** All of them; of several that read the same, the usual one first. */
    public static final List<CallFormat> ALL = Stream.of(
                    JSON_OBJECTS, NAME_THEN_JSON, PARAMETERS, GEMMA, JSON_ARRAYS, PYTHON)
            .flatMap(List::stream)
            .toList();

    /** Names that other servers have for the same. */
    private static final Map<String, String> ALIASES = Map.ofEntries(
            Map.entry("qwen", "hermes"),
            Map.entry("qwen25", "hermes"),
            Map.entry("granite4", "hermes"),
            Map.entry("ernie45", "hermes"),
            Map.entry("exaone4", "hermes"),
            Map.entry("smollm3", "hermes"),
            Map.entry("mimo", "hermes"),
            Map.entry("qwen3_xml", "qwen3_coder"),
            Map.entry("step3p5", "qwen3_coder"),
            Map.entry("nemotron_v3", "qwen3_coder"),
            Map.entry("llama4_json", "llama3_json"),
            Map.entry("granite-20b-fc", "granite_20b_fc"),
            Map.entry("cohere_command4", "cohere_command3"),
            Map.entry("firefunction", "phi4_mini_json"),
            Map.entry("gpt-oss", "openai"),
            Map.entry("harmony", "openai"),
            Map.entry("deepseek_r1", "deepseek_v3"),
            Map.entry("solar_open2", "solar_open"));

    /** The format of a name, or of an alias. */
    public static Optional<CallFormat> named(String name) {
        String known = ALIASES.getOrDefault(name, name);
        return ALL.stream().filter(format -> format.name().equals(known)).findFirst();
    }
}
