package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.server.pool.Room.Need;
import roselle.server.pool.Room.Step;
import roselle.server.pool.Room.Tenant;

/** What a model that waits for memory gets it from. */
final class RoomTest {
    private static final long SECOND = 1_000_000_000L;

    private static Tenant idle(String name, long bytes, long leastBytes, double uses) {
        return new Tenant(name, bytes, leastBytes, 0, uses, SECOND, true, true);
    }

    private static Tenant busy(String name, long bytes, double uses) {
        return new Tenant(name, bytes, bytes, 0, uses, SECOND, false, true);
    }

    private static Step next(long least, long most, long waited, Tenant... tenants) {
        return Room.next(new Need(least, most, waited), List.of(tenants), 100);
    }

    @Test
    void takesWhatIsFreeIfItCanRunInThat() {
        assertThat(next(10, 30, 0, idle("a", 60, 60, 1))).isEqualTo(new Step.Load(30));
        assertThat(next(10, 30, 0, idle("a", 80, 80, 1))).isEqualTo(new Step.Load(20));
    }

    @Test
    void shrinksModelsBeforeOneHasToGo() {
        assertThat(next(30, 50, 0, idle("much", 50, 10, 9), idle("little", 50, 30, 1)))
                .isEqualTo(new Step.Shrink(Map.of("little", 30L, "much", 40L)));
    }

    @Test
    void waitsForWhatIsComing() {
        var shrinking = new Tenant("a", 100, 60, 40, 1, SECOND, false, true);
        assertThat(next(40, 40, 0, shrinking)).isEqualTo(new Step.Wait());
    }

    @Test
    void hasModelsGoThatAreWorthLeastWherePagesAreNotEnough() {
        assertThat(next(60, 60, 0, idle("often", 50, 40, 9), idle("seldom", 50, 40, 1)))
                .isEqualTo(new Step.Evict(List.of("seldom")));
    }

    @Test
    void waitsForABadModelInUseSomeTimesAsLongAsABetterOneTakesToLoad() {
        Tenant[] tenants = {idle("hot", 50, 50, 9), busy("cold", 50, 1)};
        assertThat(next(50, 50, Room.LOADS_WAITED * SECOND - 1, tenants)).isEqualTo(new Step.Wait());
        assertThat(next(50, 50, Room.LOADS_WAITED * SECOND, tenants)).isEqualTo(new Step.Evict(List.of("hot")));
    }

    @Test
    void neverWaitsForABetterModelInUse() {
        assertThat(next(50, 50, 0, busy("hot", 50, 9), idle("cold", 50, 50, 1)))
                .isEqualTo(new Step.Evict(List.of("cold")));
    }

    @Test
    void leavesAloneWhatMayNotGo() {
        var pinned = new Tenant("pinned", 60, 60, 0, 0, SECOND, false, false);
        assertThat(next(50, 50, 0, pinned, idle("other", 40, 40, 100)))
                .as("it is not enough")
                .isEqualTo(new Step.Wait());
    }
}
