package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import roselle.server.pool.PageShares.Holder;

/** How much of their memory each of several models gets. */
final class PageSharesTest {
    @Test
    void giveWhatNobodyElseWantsToWhoWantsIt() {
        var idle = new Holder(10, 100, 60, 10, 1);
        var eager = new Holder(10, 100, 40, 100, 1);

        assertThat(PageShares.targets(List.of(idle, eager), 100)).containsExactly(10L, 90L);
    }

    @Test
    void divideWhatSeveralWantByTheirShares() {
        var one = new Holder(10, 1000, 100, 1000, 1);
        var three = new Holder(10, 1000, 100, 1000, 3);

        assertThat(PageShares.targets(List.of(one, three), 220)).containsExactly(60L, 160L);
    }

    @Test
    void giveTheRestOfOneThatHasEnoughToTheOthers() {
        var small = new Holder(0, 30, 30, 30, 1);
        var large = new Holder(0, 1000, 100, 1000, 1);

        assertThat(PageShares.targets(List.of(small, large), 200)).containsExactly(30L, 170L);
    }

    @Test
    void leaveWithAModelWhatNobodyWants() {
        var remembers = new Holder(10, 100, 80, 10, 1);
        var content = new Holder(10, 100, 20, 20, 1);

        assertThat(PageShares.targets(List.of(remembers, content), 100)).containsExactly(80L, 20L);
    }

    @Test
    void keepGuaranteesAndTheSumWhateverIsWanted() {
        var random = new Random(7);
        for (int turn = 0; turn < 2000; turn++) {
            var holders = new ArrayList<Holder>();
            long guaranteed = 0;
            for (int index = 0; index <= random.nextInt(5); index++) {
                long least = random.nextLong(50);
                long most = least + random.nextLong(200);
                holders.add(new Holder(
                        least,
                        most,
                        least + random.nextLong(most - least + 1),
                        random.nextLong(300),
                        0.1 + random.nextInt(4)));
                guaranteed += least;
            }
            long bytes = guaranteed + random.nextLong(400);
            List<Long> targets = PageShares.targets(holders, bytes);
            assertThat(targets.stream().mapToLong(Long::longValue).sum())
                    .as("turn %d", turn)
                    .isLessThanOrEqualTo(bytes);
            for (int index = 0; index < holders.size(); index++) {
                assertThat(targets.get(index))
                        .as("turn %d", turn)
                        .isBetween(
                                holders.get(index).guaranteed(),
                                holders.get(index).most());
            }
        }
    }
}
