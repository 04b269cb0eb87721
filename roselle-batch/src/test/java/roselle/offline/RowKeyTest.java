package roselle.offline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.Prompt;

class RowKeyTest {
    private static GenerationRequestBuilder request() {
        return GenerationRequest.builder()
                .text("Hello")
                .logitBias(Map.of(3, 1f, 4, 2f))
                .stopTokenIds(Set.of(5, 6));
    }

    @Test
    void everyPartThatChangesTheAnswerChangesTheKey() {
        var keys = Stream.of(
                        request(),
                        request().temperature(0.5),
                        request().penaltyWindow(64),
                        request().penalizesPrompt(true),
                        request().seed(1),
                        request().seed(2),
                        request().logitBias(Map.of(3, 2f, 4, 1f)),
                        request().stopTokenIds(Set.of(5)),
                        request().maxTokens(7),
                        request().jsonSchema("{}"),
                        request().adapter("a"),
                        request().text("Hello "))
                .map(each -> RowKey.of("model", each.build()))
                .toList();
        assertThat(keys).doesNotHaveDuplicates().allMatch(key -> key.length() == 32);
        assertThat(RowKey.of("other", request().build())).isNotIn(keys);
    }

    /** The numbers are part of what checkpoints on disk mean: they must not change from one JVM, or version, to the next. */
    @Test
    void keysAndSeedsStayWhatTheyAre() {
        assertThat(RowKey.of("model", request().build()))
                .isEqualTo(RowKey.of("model", request().build()));
        assertThat(RowKey.seed(1, new Prompt.Text("Hello", true, false))).isEqualTo(-936669458220829163L);
        assertThat(RowKey.of("model", request().priority(3).build())).isEqualTo("e82189e5d065335fa87560e52c533fcb");
    }

    @Test
    void messagesAreToldApart() {
        var one = GenerationRequest.builder().message(ChatMessage.user("ab")).user("c");
        var other = GenerationRequest.builder().message(ChatMessage.user("a")).user("bc");
        assertThat(RowKey.seed(0, one.build().prompt()))
                .isNotEqualTo(RowKey.seed(0, other.build().prompt()));
    }
}
