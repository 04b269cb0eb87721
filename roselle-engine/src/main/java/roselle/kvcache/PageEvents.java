package roselle.kvcache;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import roselle.api.PageEvent;

/**
 * What enters and leaves a prefix tree, on its way from the engine's thread to one reader.
 *
 * <p>A ring of places made beforehand: the engine copies numbers into the next and never waits. Where the reader has not
 * emptied it in time, what does not fit is left out, and the reader hears {@link PageEvent.Lost} before whatever comes next.
 * The writer alone moves {@code written}, the reader alone {@code read}; a place is filled before {@code written} passes it.
 */
public final class PageEvents {
    private static final long REMOVED = -1;

    private final int pageTokens;
    private final int mask;
    private final int[] tokens; // [places, pageTokens]
    private final long[] page; // [places]
    private final long[] parent; // [places]; REMOVED for a page that left
    private final @Nullable PrefixScope[] scope; // [places]
    private final AtomicLong written = new AtomicLong();
    private final AtomicLong read = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private long lostTold; // of the reader

    /** {@code capacity} events at least may wait. */
    PageEvents(int capacity, int pageTokens) {
        int places = Integer.highestOneBit(Math.max(2, capacity) - 1) << 1;
        this.pageTokens = pageTokens;
        mask = places - 1;
        tokens = new int[Math.multiplyExact(places, pageTokens)];
        page = new long[places];
        parent = new long[places];
        scope = new PrefixScope[places];
    }

    /** Of the engine's thread: a page of {@code ids} from {@code offset} on is in the tree; {@code of} where it begins prompts. */
    void stored(long number, long above, int[] ids, int offset, @Nullable PrefixScope of) {
        int place = place();
        if (place >= 0) {
            System.arraycopy(ids, offset, tokens, place * pageTokens, pageTokens);
            parent[place] = above;
            scope[place] = of;
            publish(place, number);
        }
    }

    /** Of the engine's thread: a page is not in the tree any more. */
    void removed(long number) {
        int place = place();
        if (place >= 0) {
            parent[place] = REMOVED;
            publish(place, number);
        }
    }

    private int place() {
        long next = written.getPlain();
        if (next - read.getAcquire() > mask) {
            lost.setRelease(lost.getPlain() + 1);
            return -1;
        }
        return (int) next & mask;
    }

    private void publish(int place, long number) {
        page[place] = number;
        written.setRelease(written.getPlain() + 1);
    }

    /** Of the reader: what has happened since the last call, {@code most} events at most, in order. */
    public List<PageEvent> take(int most) {
        List<PageEvent> taken = new ArrayList<>();
        long lostNow = lost.getAcquire();
        if (lostNow != lostTold) {
            lostTold = lostNow;
            read.setRelease(written.getAcquire()); // what is older says nothing without what is missing
            taken.add(new PageEvent.Lost());
        }
        long from = read.getPlain();
        long to = Math.min(written.getAcquire(), from + most);
        for (long at = from; at < to; at++) {
            taken.add(event((int) at & mask));
        }
        read.setRelease(to);
        return taken;
    }

    private PageEvent event(int place) {
        if (parent[place] == REMOVED) {
            return new PageEvent.Removed(page[place]);
        }
        int start = place * pageTokens;
        PrefixScope of = scope[place];
        return new PageEvent.Stored(
                page[place],
                parent[place],
                Arrays.stream(tokens, start, start + pageTokens).boxed().toList(),
                of == null ? Optional.empty() : Optional.of(new PageEvent.Scope(of.key(), of.salt(), of.adapter())));
    }
}
