package roselle.conversation;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import roselle.api.InvalidRequestException;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.ThoughtFormat;
import roselle.conversation.parse.Letters;
import roselle.jinja.ChatTemplate;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a chat template writes for an answer that calls tools: the one text that is certain to be in the model's own format.
 *
 * @param promptEnd the last of the prompt, behind which the answer stands
 * @param answer the answer that calls, with what ends its turn
 * @param calls what it calls, in order
 */
record TemplateProbe(String promptEnd, String answer, List<Sample> calls) {
    /** A call of a tool that no model knows. */
    record Sample(String name, Map<String, Object> arguments) {}

    static final String FIRST = "find_marbles";
    static final String SECOND = "count_marbles";

    private static final String QUESTION = "Which marbles?";
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 1, 2, 3, 4);
    private static final int END_CHARACTERS = 64;
    private static final JsonMapper MAPPER = JsonLimits.DEFAULT.mapper();

    /** Two calls with all that arguments can be, then less, for templates that know less. */
    private static List<List<Sample>> samples() {
        Map<String, Object> rich = new LinkedHashMap<>();
        rich.put("color", "deep \"sea\" <blue>");
        rich.put("size", 12);
        rich.put("box", Map.of("rows", List.of(1, 2)));
        Map<String, Object> plain = Map.of("color", "blue");
        return List.of(
                List.of(new Sample(FIRST, rich), new Sample(SECOND, plain)),
                List.of(new Sample(FIRST, rich)),
                List.of(new Sample(FIRST, plain), new Sample(SECOND, plain)),
                List.of(new Sample(FIRST, plain)));
    }

    /** The tools that samples call. */
    static List<Map<String, Object>> tools() {
        return List.of(tool(FIRST), tool(SECOND));
    }

    private static Map<String, Object> tool(String name) {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("color", Map.of("type", "string", "description", "Which"));
        properties.put("size", Map.of("type", "integer", "description", "How big"));
        properties.put("box", Map.of("type", "object", "description", "Where"));
        Map<String, Object> parameters = new LinkedHashMap<>();
        parameters.put("type", "object");
        parameters.put("properties", properties);
        parameters.put("required", List.of("color"));
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", name);
        function.put("description", "Marbles");
        function.put("parameters", parameters);
        return Map.of("type", "function", "function", function);
    }

    /** What a template writes for samples, the fullest first, each when it is asked for; none where it writes no calls. */
    static Stream<TemplateProbe> of(ChatTemplate template) {
        return samples().stream()
                .flatMap(calls -> Stream.of(false, true).flatMap(isText -> render(template, calls, isText).stream()));
    }

    private static Optional<TemplateProbe> render(ChatTemplate template, List<Sample> calls, boolean isText) {
        try {
            Map<String, Object> question = Map.of("role", "user", "content", QUESTION);
            String prompt = text(template, List.of(question), true);
            String full = text(template, List.of(question, answer(calls, isText)), false);
            int begin = answerBegin(prompt, full);
            String rest = full.substring(begin);
            return rest.contains(FIRST)
                    ? Optional.of(
                            new TemplateProbe(full.substring(Math.max(0, begin - END_CHARACTERS), begin), rest, calls))
                    : Optional.empty();
        } catch (InvalidRequestException _) { // the template knows no such conversation
            return Optional.empty();
        }
    }

    private static String text(ChatTemplate template, List<Map<String, Object>> messages, boolean asks) {
        Map<String, Object> variables = new LinkedHashMap<>();
        variables.put("messages", messages);
        variables.put("tools", tools());
        variables.put("add_generation_prompt", asks);
        variables.put("bos_token", "");
        variables.put("eos_token", "");
        return template.render(variables, NOW);
    }

    private static Map<String, Object> answer(List<Sample> calls, boolean isText) {
        var written = new ArrayList<Map<String, Object>>();
        for (Sample call : calls) {
            Object arguments = isText ? MAPPER.writeValueAsString(call.arguments()) : call.arguments();
            Map<String, Object> function = new LinkedHashMap<>();
            function.put("name", call.name());
            function.put("arguments", arguments);
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("id", "marble" + (100 + written.size())); // nine characters, which Mistral's templates demand
            one.put("type", "function");
            one.put("function", function);
            written.add(one);
        }
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", "assistant");
        message.put("content", "");
        message.put("tool_calls", written);
        return message;
    }

    /** Where the answer begins: templates may tell of tools in the last turn alone, so what is before the question may differ. */
    private static int answerBegin(String prompt, String full) {
        int asked = full.lastIndexOf(QUESTION);
        int askedAlone = prompt.lastIndexOf(QUESTION);
        return asked < 0 || askedAlone < 0
                ? common(prompt, full)
                : asked + common(prompt.substring(askedAlone), full.substring(asked));
    }

    /** How far both are the same, but not into a mark. */
    private static int common(String prompt, String full) {
        int end = 0;
        while (end < prompt.length() && end < full.length() && prompt.charAt(end) == full.charAt(end)) {
            end++;
        }
        if (end < prompt.length() && end > 0) {
            int open = Math.max(full.lastIndexOf('<', end - 1), full.lastIndexOf('[', end - 1));
            int close = Math.max(full.lastIndexOf('>', end - 1), full.lastIndexOf(']', end - 1));
            return open > close ? open : end;
        }
        return end;
    }

    /** How well a format's own spelling is this one: the letters of its literals, if all of them are here, else 0. */
    int likeness(CallFormat format) {
        List<String> literals = format.literals();
        return literals.stream().allMatch(answer::contains)
                ? literals.stream().mapToInt(String::length).sum()
                : 0;
    }

    /** Whether a format reads these calls, and nothing else, from the template's text. */
    boolean isRead(CallFormat format) {
        var parser = ConversationFormat.ofText(ThoughtFormat.NONE, format, new Letters(Map.of()))
                .parser(promptEnd, tools(), false);
        var read = new ArrayList<AnswerPart>(parser.append(answer));
        read.addAll(parser.finish(""));
        List<Call> told = read.stream()
                .filter(Call.class::isInstance)
                .map(Call.class::cast)
                .toList();
        if (told.size() != calls.size()) {
            return false;
        }
        for (int index = 0; index < told.size(); index++) {
            if (!isSame(calls.get(index), told.get(index))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isSame(Sample sample, Call call) {
        try {
            JsonNode read = MAPPER.readTree(call.arguments());
            return call.name().equals(sample.name()) && read.equals(MAPPER.valueToTree(sample.arguments()));
        } catch (JacksonException _) {
            return false;
        }
    }
}
