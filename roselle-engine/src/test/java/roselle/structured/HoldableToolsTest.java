package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.api.ResponseFormat;
import roselle.conversation.format.CallFormats;
import roselle.engine.prompt.NoTokenizer;

/** Which tools can be held to their schemas is found once for the tools of a request. */
final class HoldableToolsTest {
    private static final int SIZE = 8;

    private static HeldCalls calls(String pattern) {
        List<Map<String, Object>> tools =
                List.of(tool("a", Map.of("type", "object")), tool("b", Map.of("pattern", pattern)));
        return new HeldCalls(
                CallFormats.named("hermes").orElseThrow(), tools, true, false, List.of(), ResponseFormat.TEXT);
    }

    private static Map<String, Object> tool(String name, Map<String, Object> parameters) {
        return Map.of("type", "function", "function", Map.of("name", name, "parameters", parameters));
    }

    @Test
    void equalToolsAreCompiledOnce() {
        var formats = new CompiledFormats(new NoTokenizer(SIZE), SIZE, new int[] {0});

        var first = formats.holdable(calls("("));

        assertThat(first.stream()).containsExactly(0);
        assertThat(formats.holdable(calls("("))).isSameAs(first);
        assertThat(formats.holdable(calls("a")).stream()).containsExactly(0, 1);
    }
}
