package roselle.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What events of pages cost the engine's thread, in processor time; by hand, since it is to be looked at. */
@Tag("manual")
final class PageEventTimeTest {
    private static final int PAGE = 16;
    private static final int PAGES = 10_000; // of a second
    private static final int ROUNDS = 20;

    @Test
    void tenThousandPagesASecondTakeLessThanAHundredthOfIt() throws InterruptedException {
        var events = new PageEvents(1 << 16, PAGE);
        var isOver = new AtomicBoolean();
        Thread reader = Thread.ofPlatform().start(() -> {
            while (!isOver.get()) {
                events.take(4096);
                LockSupport.parkNanos(10_000_000);
            }
        });
        var ids = new int[PAGE * 64];
        var threads = ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = threads.getCurrentThreadCpuTime();
            for (int page = 0; page < PAGES; page++) {
                events.stored(page + 1, page, ids, page % 64 * PAGE, null);
                if (page % 2 == 1) {
                    events.removed(page);
                }
            }
            long nanos = threads.getCurrentThreadCpuTime() - before;
            System.out.printf("round %d: %d pages, and half of them removed, in %.3f ms%n", round, PAGES, nanos / 1e6);
            least = Math.min(least, nanos);
            LockSupport.parkNanos(100_000_000); // until the reader has taken them
        }
        isOver.set(true);
        reader.join();
        assertThat(least / 1e9).isLessThan(0.01);
    }
}
