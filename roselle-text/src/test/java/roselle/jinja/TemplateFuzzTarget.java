package roselle.jinja;

import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import roselle.api.InvalidRequestException;
import roselle.testing.OneSentence;

/** A Jazzer target: any bytes as a template are refused in one sentence or render within the limits. */
public final class TemplateFuzzTarget {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 7, 4, 12, 0);
    private static final Map<String, ?> VARIABLES = Map.of(
            "messages",
            List.of(
                    Map.of("role", "user", "content", "Hi {{ x }}"),
                    Map.of("role", "assistant", "content", "a\nb", "tool_calls", List.of(Map.of("name", "f")))),
            "tools",
            List.of(Map.of("name", "f", "parameters", Map.of("a", 1, "b", 2.5, "c", true))),
            "x",
            "x y",
            "n",
            7);

    private TemplateFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            ChatTemplate.compile("fuzz", new String(input, StandardCharsets.UTF_8))
                    .render(VARIABLES, NOW);
        } catch (InvalidRequestException refused) {
            OneSentence.check(refused);
        }
    }
}
