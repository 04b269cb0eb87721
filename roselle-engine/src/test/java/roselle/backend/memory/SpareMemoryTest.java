package roselle.backend.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory goes from one to the next, each byte of it to one or back to the system. */
class SpareMemoryTest {
    private final SpareMemory spare = new SpareMemory();
    private final List<Long> freed = new ArrayList<>(); // bytes, in order

    private void leave(long... sizes) {
        spare.keepFrom(() -> {
            for (long size : sizes) {
                assertThat(spare.leave(MemorySegment.ofArray(new byte[(int) size]), this::free))
                        .isTrue();
            }
        });
    }

    private void free(MemorySegment memory) {
        freed.add(memory.byteSize());
    }

    @Test
    void takesNothingWhereNobodyIsToComeForIt() {
        assertThat(spare.leave(MemorySegment.ofArray(new byte[4]), this::free)).isFalse();
        assertThat(spare.bytes()).isZero();
        assertThat(spare.take(4)).isEmpty();
        assertThat(freed).isEmpty();
    }

    @Test
    void givesTheSmallestThatIsLargeEnoughAndKeepsTheRestOfIt() {
        leave(10, 6, 8);
        assertThat(spare.take(5).orElseThrow().byteSize()).isEqualTo(5);
        assertThat(spare.bytes()).isEqualTo(10 + 1 + 8);
        assertThat(spare.take(8)).isPresent();
        assertThat(spare.take(1)).isPresent();
        assertThat(spare.bytes()).isEqualTo(10);
        assertThat(freed).isEmpty();
    }

    @Test
    void returnsAsMuchAsIsTakenAnew() {
        leave(10, 6, 8);
        assertThat(spare.take(11)).isEmpty();
        assertThat(freed).containsExactly(8L, 3L);
        assertThat(spare.bytes()).isEqualTo(13);
        spare.release(100);
        assertThat(freed).containsExactly(8L, 3L, 3L, 10L);
        assertThat(spare.bytes()).isZero();
    }

    @Test
    void dropsAllOfIt() {
        leave(10, 6);
        assertThat(spare.take(6)).isPresent();
        spare.drop();
        assertThat(freed).containsExactly(10L);
        spare.drop();
        assertThat(freed).hasSize(1);
    }
}
