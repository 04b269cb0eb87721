package roselle.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import roselle.api.PageEvent;
import roselle.api.PageEvent.Lost;
import roselle.api.PageEvent.Removed;
import roselle.api.PageEvent.Scope;
import roselle.api.PageEvent.Stored;
import roselle.backend.memory.KvGroup;

final class PageEventsTest {
    private static final int PAGE = 2;

    private static PageCache cache(int pages) {
        return new PageCache(new PageLayout(List.of(new KvGroup("full", 1, 1, 1, 1, 0)), List.of(pages), PAGE), 7);
    }

    private static void compute(PageCache cache, PrefixScope scope, int... ids) {
        SequencePages pages = cache.open(cache.match(scope, ids, ids.length - 1), ids.length);
        pages.reserve(ids.length);
        pages.commit(ids, ids.length);
        pages.release();
    }

    @Test
    void tellsOfPagesThatAreStoredAndOfThoseThatGiveWay() {
        PageCache cache = cache(2);
        PageEvents events = cache.events(64);

        compute(cache, new PrefixScope("alice", "salt", "digest"), 1, 2, 3, 4);
        assertThat(events.take(64))
                .containsExactly(
                        new Stored(1, 0, List.of(1, 2), Optional.of(new Scope("alice", "salt", "digest"))),
                        new Stored(2, 1, List.of(3, 4), Optional.empty()));

        compute(cache, PrefixScope.SHARED, 1, 2, 5, 6);
        assertThat(events.take(64))
                .containsExactly(
                        new Removed(2),
                        new Removed(1),
                        new Stored(3, 0, List.of(1, 2), Optional.of(new Scope("", "", ""))),
                        new Stored(4, 3, List.of(5, 6), Optional.empty()));
        assertThat(events.take(64)).isEmpty();
    }

    @Test
    void aPageThatIsFoundAgainIsNotTold() {
        PageCache cache = cache(4);
        PageEvents events = cache.events(64);
        compute(cache, PrefixScope.SHARED, 1, 2, 3, 4);
        events.take(64);

        compute(cache, PrefixScope.SHARED, 1, 2, 3, 4);

        assertThat(events.take(64)).isEmpty();
    }

    @Test
    void whatDidNotFitIsToldAsLostAndNothingOlderWithIt() {
        PageCache cache = cache(64);
        PageEvents events = cache.events(4);
        compute(cache, PrefixScope.SHARED, IntStream.range(0, 12).toArray());

        assertThat(events.take(64)).containsExactly(new Lost());

        compute(cache, PrefixScope.SHARED, 100, 101);
        assertThat(events.take(64))
                .containsExactly(new Stored(7, 0, List.of(100, 101), Optional.of(new Scope("", "", ""))));
    }

    @Test
    void aReaderTakesAsManyAsItWants() {
        PageCache cache = cache(64);
        PageEvents events = cache.events(64);
        compute(cache, PrefixScope.SHARED, IntStream.range(0, 12).toArray());

        assertThat(events.take(4)).hasSize(4);
        assertThat(events.take(4)).extracting(event -> ((Stored) event).page()).containsExactly(5L, 6L);
    }

    /** One thread writes, another reads: what arrives is in order and whole, or said to be lost. */
    @Test
    void aReaderBesideTheWriterMissesNothingUnsaid() throws InterruptedException {
        int pages = 20_000;
        var events = new PageEvents(1 << 10, PAGE);
        Thread writer = Thread.ofPlatform().start(() -> {
            for (int page = 1; page <= pages; page++) {
                events.stored(page, page - 1, new int[] {page, -page}, 0, null);
            }
        });
        long next = 1;
        boolean mayJump = false;
        while (next <= pages) {
            boolean hasEnded = !writer.isAlive();
            List<PageEvent> taken = events.take(256);
            if (hasEnded && taken.isEmpty()) {
                break;
            }
            for (PageEvent event : taken) {
                if (event instanceof Stored stored) {
                    assertThat(stored.page()).isGreaterThanOrEqualTo(next);
                    assertThat(mayJump || stored.page() == next).isTrue();
                    assertThat(stored.tokens()).containsExactly((int) stored.page(), (int) -stored.page());
                    next = stored.page() + 1;
                    mayJump = false;
                } else {
                    mayJump = true;
                }
            }
        }
        writer.join();
    }
}
