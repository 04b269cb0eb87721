package roselle.server.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.PageEvent;
import roselle.api.PageEvent.Scope;

/** What writing events of pages costs their own thread, in processor time; by hand, since it is to be looked at. */
@Tag("manual")
final class EventTimeTest {
    private static final int PAGES = 10_000; // of a second, a hundred at a time
    private static final int ROUNDS = 30;

    @Test
    void tenThousandPagesASecondTakeLittleOfAProcessor() {
        var hashes = new PageHashes();
        var threads = ManagementFactory.getThreadMXBean();
        double least = Double.POSITIVE_INFINITY;
        for (int round = 0; round < ROUNDS; round++) {
            List<List<PageEvent>> batches = new ArrayList<>();
            for (int begin = 1; begin <= PAGES; begin += 100) {
                batches.add(pages(begin));
            }
            long before = threads.getCurrentThreadCpuTime();
            long bytes = 0;
            for (List<PageEvent> batch : batches) {
                bytes += new EventBatch(hashes, 16, digest -> digest).add(batch).bytes(1).length;
            }
            double millis = (threads.getCurrentThreadCpuTime() - before) / 1e6;
            System.out.printf("round %d: %d pages in %.1f ms, %d bytes%n", round, PAGES, millis, bytes);
            least = Math.min(least, millis);
        }
        assertThat(least).isLessThan(100);
    }

    /** A prompt of a hundred pages. */
    private static List<PageEvent> pages(int first) {
        return IntStream.range(first, first + 100)
                .<PageEvent>mapToObj(page -> new PageEvent.Stored(
                        page,
                        page == first ? 0 : page - 1,
                        IntStream.range(page, page + 16).boxed().toList(),
                        page == first ? Optional.of(new Scope("", "", "")) : Optional.empty()))
                .toList();
    }
}
