package roselle.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;

/** What needs no server: words of commands, results as text, arguments of {@code ask}. */
final class McpToolsTest {
    @Test
    void splitsCommandsAsShellsDo() {
        assertThat(CommandWords.of(" npx -y  'a server' --dir=\"C D\"/e '' "))
                .containsExactly("npx", "-y", "a server", "--dir=C D/e", "");
        assertThatThrownBy(() -> CommandWords.of("a 'b")).hasMessage("a 'b: the quote ' is not closed");
        assertThatThrownBy(() -> CommandWords.of(" ")).hasMessageContaining("is empty");
    }

    @Test
    void resultsAreText() {
        assertThat(McpTools.text(
                        result().addTextContent("one").addTextContent("two").build()))
                .isEqualTo("one\ntwo");
        assertThat(McpTools.text(
                        result().addTextContent("no such city").isError(true).build()))
                .isEqualTo("error: no such city");
        assertThat(McpTools.text(
                        result().structuredContent(Map.of("degrees", 7)).build()))
                .isEqualTo("{\"degrees\":7}");
        assertThat(McpTools.text(result().addTextContent("x".repeat(100_001)).build()))
                .hasSizeLessThan(100_100)
                .endsWith("x\n(cut: the result has 100001 characters)");
    }

    private static CallToolResult.Builder result() {
        return CallToolResult.builder();
    }

    @Test
    void argumentsAreARequestOrRefused() {
        var request = AskArguments.read(Map.of("prompt", "Hi", "temperature", 0, "max_tokens", 5, "seed", 7L));
        assertThat(request.sampling().isGreedy()).isTrue();
        assertThat(request.stop().maxTokens()).isEqualTo(5);
        refuses(Map.of("prompt", "Hi", "tokens", 1), "ask has no argument tokens: it has max_tokens, prompt, schema");
        refuses(Map.of("prompt", 1), "ask needs a prompt");
        refuses(Map.of("prompt", "Hi", "max_tokens", "many"), "max_tokens is many: it is an integer");
        refuses(Map.of("prompt", "Hi", "seed", 0.5), "seed is 0.5");
    }

    private static void refuses(Map<String, Object> arguments, String message) {
        assertThatThrownBy(() -> AskArguments.read(arguments))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void aServerThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> McpTools.connect(List.of("/no/such/server --x"), line -> {}))
                .isInstanceOf(McpException.class)
                .hasMessage("the MCP server /no/such/server cannot be started: there is no such program");
        assertThatThrownBy(() -> McpTools.connect(List.of("no-such-server"), line -> {}))
                .hasMessage("the MCP server no-such-server cannot be started: there is no such program");
        assertThatThrownBy(() -> McpTools.connect(List.of("http://[x"), line -> {}))
                .isInstanceOf(McpException.class)
                .hasMessageContaining("is no address of an MCP server");
    }
}
