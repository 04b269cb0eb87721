package roselle.gotemplate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import roselle.gotemplate.run.Execution;
import roselle.gotemplate.run.Functions;
import roselle.gotemplate.syntax.Parser;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Compares templates with what Go made of them, and with what Ollama made of conversations; see tools/gotemplates. */
final class GoGoldenTest {
    private static final int MAX_SHOWN = 40;
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 7, 4, 1, 2);
    private static final JsonNode GOLDEN = read();

    private final List<String> different = new ArrayList<>();

    private static JsonNode read() {
        var resource = Objects.requireNonNull(GoGoldenTest.class.getResourceAsStream("golden.json.gz"));
        try (var input = new GZIPInputStream(resource)) {
            return JsonMapper.shared().readTree(input);
        } catch (IOException unreadable) {
            throw new AssertionError(unreadable);
        }
    }

    @Test
    void rendersAsGoDoes() {
        Object data = GoValues.of(JsonMapper.shared().convertValue(GOLDEN.get("data"), Map.class));
        for (JsonNode golden : GOLDEN.get("language")) {
            String template = golden.get("template").stringValue();
            compare(golden, template, () -> {
                var parsed = Parser.parse(template, Functions.NAMES);
                var execution = new Execution(parsed, NOW, Limits.DEFAULT);
                execution.run(parsed.root(), data);
                return execution.output();
            });
        }
        assertThat(GOLDEN.get("language").size()).isGreaterThan(4_000);
        assertNothingDiffers();
    }

    @Test
    void rendersConversationsAsOllamaDoes() {
        for (JsonNode golden : GOLDEN.get("renderings")) {
            String template = golden.get("template").stringValue();
            JsonNode conversation =
                    GOLDEN.get("conversations").get(golden.get("conversation").intValue());
            compare(
                    golden,
                    conversation + "\n" + template,
                    () -> OllamaTemplate.parse("golden", template).render(variables(conversation), NOW));
        }
        assertThat(GOLDEN.get("renderings").size()).isGreaterThan(100);
        assertNothingDiffers();
    }

    private interface Rendering {
        String rendered();
    }

    private void compare(JsonNode golden, String shown, Rendering rendering) {
        Optional<String> expected =
                Optional.of(golden.get("output")).filter(JsonNode::isString).map(JsonNode::stringValue);
        Optional<String> rendered = Optional.empty();
        String failure = "";
        try {
            rendered = Optional.of(rendering.rendered());
        } catch (TemplateFault | InvalidRequestException expectable) {
            failure = String.valueOf(expectable.getMessage());
        }
        if (!rendered.equals(expected)) {
            different.add("\n" + shown + "\n  Go:   " + expected + "\n  here: " + rendered + failure);
        }
    }

    private void assertNothingDiffers() {
        assertThat(different.size() > MAX_SHOWN ? different.subList(0, MAX_SHOWN) : different)
                .as("%d differ", different.size())
                .isEmpty();
    }

    /** A conversation in Ollama's fields, as chat templates have it. */
    private static Map<String, Object> variables(JsonNode conversation) {
        Map<String, Object> variables = new HashMap<>();
        List<Object> messages = new ArrayList<>();
        for (JsonNode message : conversation.get("messages")) {
            var fields = (ObjectNode) message.deepCopy();
            rename(fields, "thinking", "reasoning_content");
            rename(fields, "tool_name", "name");
            messages.add(JsonMapper.shared().convertValue(fields, Map.class));
        }
        variables.put("messages", messages);
        if (conversation.has("tools")) {
            variables.put("tools", JsonMapper.shared().convertValue(conversation.get("tools"), List.class));
        }
        if (conversation.has("suffix")) {
            variables.put("suffix", conversation.get("suffix").stringValue());
        }
        JsonNode think = conversation.path("think");
        if (think.isBoolean()) {
            variables.put("enable_thinking", think.booleanValue());
        } else if (think.isString()) {
            variables.put("reasoning_effort", think.stringValue());
        }
        return variables;
    }

    private static void rename(ObjectNode fields, String name, String other) {
        if (fields.has(name)) {
            fields.set(other, fields.remove(name));
        }
    }
}
