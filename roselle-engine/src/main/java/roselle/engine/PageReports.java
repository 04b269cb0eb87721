package roselle.engine;

import java.util.List;
import roselle.api.PageEvent;
import roselle.kvcache.PageEvents;

/**
 * What enters and leaves an engine's prefix cache, for one reader: what routers of several engines know them by.
 *
 * <p>Pages from before {@link Engine#pageReports} was asked are not told of, nor what continues them, so ask before the first
 * request. Where more events wait than there is room for, they are lost, and the reader hears {@code PageEvent.Lost}.
 */
public final class PageReports {
    private final PageEvents events;
    private final int pageTokens;

    PageReports(PageEvents events, int pageTokens) {
        this.events = events;
        this.pageTokens = pageTokens;
    }

    /** Tokens of a page. */
    public int pageTokens() {
        return pageTokens;
    }

    /** What has happened since the last call, in order, {@code most} events at most; does not wait. */
    public List<PageEvent> take(int most) {
        return events.take(most);
    }
}
