package roselle.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PromptTest {
    private static final String TURN =
            "{\"role\":\"user\",\"content\":\"" + "Tell me a long story. ".repeat(20) + "\"}";

    private static Prompt prompt(String body) {
        return Prompt.of(body.getBytes(StandardCharsets.UTF_8));
    }

    private static int shared(Prompt one, Prompt other) {
        int at = Arrays.mismatch(one.blocks(), other.blocks());
        return at < 0 ? one.blocks().length : at;
    }

    @Test
    void aConversationThatGoesOnHasTheBlocksOfItsEarlierTurns() {
        Prompt first = prompt("{\"model\":\"m\",\"messages\":[" + TURN + "]}");
        Prompt second = prompt("{\"stream\":true,\"messages\":[" + TURN + ",{\"role\":\"assistant\",\"content\":\""
                + "Once. ".repeat(100) + "\"}],\"max_tokens\":5,\"model\":\"m\"}");

        assertThat(first.blocks()).hasSizeGreaterThan(2);
        assertThat(second.blocks()).hasSizeGreaterThan(first.blocks().length);
        assertThat(shared(first, second)).isEqualTo(first.blocks().length);
        assertThat(first.bytes()).isEqualTo(TURN.length() + 2 + 3);
    }

    @Test
    void whatComesBeforeTheMessagesTellsPromptsApart() {
        String messages = "\"messages\":[" + TURN + "]}";
        Prompt plain = prompt("{\"model\":\"m\"," + messages);

        assertThat(shared(plain, prompt("{\"model\":\"n\"," + messages))).isZero();
        assertThat(shared(plain, prompt("{\"model\":\"m\",\"system\":\"Be brief.\"," + messages)))
                .isZero();
        assertThat(shared(plain, prompt("{\"model\":\"m\",\"temperature\":0.5," + messages)))
                .isEqualTo(plain.blocks().length);
    }

    @Test
    void textsAndIdsOfCompletionsAreContinuedLikewise() {
        String text = "Once upon a time ".repeat(40);
        assertThat(shared(prompt("{\"prompt\":\"" + text + "\"}"), prompt("{\"prompt\":\"" + text + text + "\"}")))
                .isEqualTo(text.length() / Prompt.BLOCK);
        String ids = "12,345,".repeat(100);
        assertThat(shared(prompt("{\"prompt\":[" + ids + "7]}"), prompt("{\"prompt\":[" + ids + "8,9]}")))
                .isEqualTo(ids.length() / Prompt.BLOCK);
    }

    @Test
    void characterOffsetsAreThoseOfBytes() {
        String text = "Ärger über Öl ".repeat(40);
        Prompt before = prompt("{\"user\":\"öäü\",\"prompt\":\"" + text + "\"}");
        Prompt behind = prompt("{\"prompt\":\"" + text + "\",\"user\":\"o\"}");
        assertThat(before.blocks()).isEqualTo(behind.blocks());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[]", "7", "{\"messages\":", "{\"messages\":[}", "no", "{}", "{\"a\":1}"})
    void whatIsNoPromptIsLeftToTheMembers(String body) {
        assertThat(prompt(body).blocks()).isEmpty();
    }

    @Test
    void longPromptsAreFollowedUpToALimit() {
        assertThat(prompt("{\"prompt\":\"" + "x".repeat(3 << 20) + "\"}").blocks())
                .hasSize(4096);
    }
}
