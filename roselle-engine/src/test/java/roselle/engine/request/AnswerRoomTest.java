package roselle.engine.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import roselle.api.CapacityException;
import roselle.api.InvalidRequestException;

final class AnswerRoomTest {
    private final AnswerRoom room = new AnswerRoom(90);

    private int fill(String key) {
        int count = 0;
        while (true) {
            try {
                room.take(key, 1);
                count++;
            } catch (CapacityException full) {
                assertThat(full).hasMessageContaining("of at most 90");
                return count;
            }
        }
    }

    @Test
    void greedyKeysLeaveRoomForOneThatHasNothing() {
        assertThat(fill("a")).isEqualTo(80);
        assertThat(fill("b")).isEqualTo(8);
        assertThat(fill("c")).isEqualTo(1);
        assertThatCode(() -> room.take("idle", 1)).doesNotThrowAnyException();
    }

    @Test
    void roomThatWasGivenBackCanBeTakenAgain() {
        int first = fill("a");
        room.giveBack("a", first);
        assertThat(fill("a")).isEqualTo(first);
    }

    @Test
    void nobodysKeyMayFillAllOfIt() {
        assertThat(fill("")).isEqualTo(90);
    }

    @Test
    void whatAKeyCanNeverHaveIsRefusedForGood() {
        assertThatThrownBy(() -> room.take("a", 81)).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> room.take("", 91)).isInstanceOf(InvalidRequestException.class);
        assertThatCode(() -> room.take("a", 80)).doesNotThrowAnyException();
        assertThatThrownBy(() -> room.take("a", 2)).isInstanceOf(CapacityException.class);
    }
}
