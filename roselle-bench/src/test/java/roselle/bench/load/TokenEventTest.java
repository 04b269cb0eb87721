package roselle.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import roselle.bench.metric.RequestSample.TokenUsage;

/** Events as engines write them. */
final class TokenEventTest {
    @Test
    void countsTextAsAToken() {
        assertThat(read("{'choices':[{'index':0,'text':' a','finish_reason':null}],'usage':null}")
                        .hasToken())
                .isTrue();
        assertThat(read("{'choices':[{'delta':{'content':'a'},'finish_reason':null}]}")
                        .hasToken())
                .isTrue();
        assertThat(read("{'choices':[{'delta':{'reasoning_content':'a'}}]}").hasToken())
                .isTrue();
        assertThat(read("{'choices':[{'delta':{'role':'assistant','content':'a'}}]}")
                        .hasToken())
                .isTrue();
        assertThat(read("{'choices':[{'text':'a','finish_reason':'length'}]}").hasToken())
                .isTrue();
    }

    @Test
    void countsATokenThatIsHalfACharacter() {
        assertThat(read("{'choices':[{'text':'','finish_reason':null}]}").hasToken())
                .isTrue();
    }

    @Test
    void countsNeitherTheRoleNorTheReasonAsATokens() {
        assertThat(read("{'choices':[{'delta':{'role':'assistant','content':''}}]}")
                        .hasToken())
                .isFalse();
        TokenEvent last = read("{'choices':[{'text':'','finish_reason':'length'}]}");
        assertThat(last.hasToken()).isFalse();
        assertThat(last.isLast()).isTrue();
        assertThat(last.hasChoice()).isTrue();
    }

    /** As Text Generation Inference writes each of its events but the last. */
    @Test
    void takesAnEmptyReasonForNone() {
        TokenEvent word = read("{'choices':[{'finish_reason':'','index':0,'logprobs':null,'text':' a'}]}");
        TokenEvent half = read("{'choices':[{'finish_reason':'','index':0,'logprobs':null,'text':''}]}");

        assertThat(word.isLast()).isFalse();
        assertThat(half.isLast()).isFalse();
        assertThat(half.hasToken()).isTrue();
    }

    @Test
    void takesAReasonWithDetailsForOne() {
        TokenEvent last =
                read("{'choices':[{'finish_reason':{'type':'length','length':5},'text':''}],'usage':{'prompt_tokens':7,"
                        + "'completion_tokens':3}}");

        assertThat(last.isLast()).isTrue();
        assertThat(last.usage()).contains(new TokenUsage(7, 3, -1));
    }

    @Test
    void readsUsageWithAndWithoutDetails() {
        TokenEvent plain = read("{'choices':[],'usage':{'prompt_tokens':7,'completion_tokens':3,'total_tokens':10}}");
        assertThat(plain.usage()).contains(new TokenUsage(7, 3, -1));
        assertThat(plain.hasChoice()).isFalse();
        assertThat(read("{'usage':{'prompt_tokens':7,'prompt_tokens_details':{'audio':null,'cached_tokens':5},"
                                + "'completion_tokens':3,'completion_tokens_details':{'x':[1]}}}")
                        .usage())
                .contains(new TokenUsage(7, 3, 5));
    }

    @Test
    void readsErrors() {
        assertThat(read("{'error':{'message':'out of pages','code':503}}").error())
                .contains("out of pages");
        assertThat(read("{'error':'late'}").error()).contains("late");
        assertThat(read("{'error':null,'choices':[]}").error()).isEmpty();
    }

    @Test
    void refusesWhatIsNoJsonObject() {
        assertThatThrownBy(() -> read("{'choices':")).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> read("[1]")).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> read("[".repeat(100_000))).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> read("{'a':" + "[".repeat(100_000))).isInstanceOf(ProtocolException.class);
    }

    private static TokenEvent read(String json) {
        byte[] bytes = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        return TokenEvent.read(bytes, 0, bytes.length);
    }
}
