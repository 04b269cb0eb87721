package roselle.gotemplate;

import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import roselle.api.InvalidRequestException;
import roselle.testing.OneSentence;

/** A Jazzer target: any bytes as a template in Go's language are refused in one sentence or render within the limits. */
public final class GoTemplateFuzzTarget {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 7, 4, 12, 0);
    private static final Map<String, ?> VARIABLES = Map.of(
            "messages",
            List.of(
                    Map.of("role", "user", "content", "Hi {{ .x }}"),
                    Map.of(
                            "role",
                            "assistant",
                            "content",
                            "a\nb",
                            "tool_calls",
                            List.of(Map.of("function", Map.of("name", "f", "arguments", Map.of("a", 1, "b", "2")))))),
            "tools",
            List.of(Map.of(
                    "type",
                    "function",
                    "function",
                    Map.of("name", "f", "parameters", Map.of("properties", Map.of("a", Map.of("type", "string")))))));

    private GoTemplateFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            OllamaTemplate.parse("fuzz", new String(input, StandardCharsets.UTF_8))
                    .render(VARIABLES, NOW);
        } catch (InvalidRequestException refused) {
            OneSentence.check(refused);
        }
    }
}
