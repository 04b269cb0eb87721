package roselle.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whose text comes next. */
class TextTurnsTest {
    private static final EncoderOutput OUTPUT = new EncoderOutput(Pooling.CLS, List.of(), List.of());

    private static TextRequest request(String group, int texts) {
        var inputs = new ArrayList<EncoderInput>();
        for (int text = 0; text < texts; text++) {
            inputs.add(EncoderInput.of(text));
        }
        return new TextRequest(inputs, OUTPUT, 0, group);
    }

    @Test
    void groupsTakeTurnsHoweverManyRequestsOneHas() {
        var turns = new TextTurns();
        var first = request("a", 2);
        var second = request("a", 1);
        var other = request("b", 2);
        List.of(first, second, other).forEach(turns::add);

        var order = new ArrayList<TextRequest>();
        while (!turns.isEmpty()) {
            TextRequest next = turns.first();
            next.next();
            order.add(next);
            turns.pass(next.hasNext());
        }

        assertThat(order).containsExactly(first, other, second, other, first);
    }

    @Test
    void aGroupThatWasDoneComesBack() {
        var turns = new TextTurns();
        var once = request("a", 1);
        turns.add(once);
        turns.pass(false);
        assertThat(turns.isEmpty()).isTrue();

        var again = request("a", 1);
        turns.add(again);

        assertThat(turns.all()).containsExactly(again);
    }
}
