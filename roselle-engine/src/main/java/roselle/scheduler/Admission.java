package roselle.scheduler;

import roselle.api.CapacityException;
import roselle.batch.Running;
import roselle.batch.Sequence;
import roselle.kvcache.PageCache;
import roselle.kvcache.PageLayout;
import roselle.kvcache.PrefixMatch;

/**
 * Says who may start: a sequence whose known tokens fit beside all that those running still need to read their own, with a
 * page to spare for each of them to grow; and, when nobody runs, anyone, because a sequence that would not fit alone was
 * refused when it was submitted.
 */
final class Admission {
    private final PageCache cache;
    private final PageLayout layout;
    private final SchedulerLimits limits;
    private final int longest;

    Admission(PageCache cache, SchedulerLimits limits) {
        this.cache = cache;
        this.limits = limits;
        layout = cache.layout();
        longest = Math.min(limits.maxContext(), tokensThatFitAlone());
    }

    private int tokensThatFitAlone() {
        int most = Integer.MAX_VALUE;
        for (int group = 0; group < layout.groupCount(); group++) {
            if (layout.peakPages(group, Integer.MAX_VALUE, 1) > layout.poolPages(group)) {
                most = (int) Math.min(most, (long) layout.poolPages(group) * layout.pageTokens());
            }
        }
        return most;
    }

    /** Tokens of the longest sequence that can be served: the model's context, or less where the pools hold less. */
    int longest() {
        return longest;
    }

    /** Refuses a sequence that could not even run alone. */
    void requirePossible(int promptTokens, int maxLength) {
        if (maxLength <= longest) {
            return;
        }
        String asked = promptTokens + " prompt tokens and up to " + (maxLength - promptTokens) + " generated ones make "
                + maxLength + ", more than the ";
        if (maxLength > limits.maxContext()) {
            throw new CapacityException(
                    asked + limits.maxContext() + " tokens of the context: shorten the prompt or lower max_tokens");
        }
        throw new CapacityException(asked + longest
                + " tokens that the KV cache has pages for: lower max_tokens or give the cache more memory");
    }

    /** Whether a sequence of {@code length} known tokens that begins with {@code match} fits beside the ones running. */
    boolean fits(PrefixMatch match, int length, RunningSet running) {
        if (running.isEmpty()) {
            return true;
        }
        for (int group = 0; group < layout.groupCount(); group++) {
            long left = (long) cache.available(group) - match.pinnedPages(group) - promised(group, running);
            if (left - running.size() < fresh(group, length, match.sharedPages())) {
                return false;
            }
        }
        return true;
    }

    /** Whether it would fit if everyone gave its pages back from whom {@code newcomer} may take them; an upper bound. */
    boolean couldFit(PrefixMatch match, Sequence newcomer, RunningSet running, Shares shares) {
        int length = newcomer.length();
        for (int group = 0; group < layout.groupCount(); group++) {
            long left = (long) cache.available(group) - match.pinnedPages(group);
            for (int rank = 0; rank < running.size(); rank++) {
                Running each = running.at(rank);
                left += shares.mayTakePages(newcomer, each)
                        ? each.pages().keptPages(group)
                        : -1 - promised(group, each);
            }
            if (left < fresh(group, length, match.sharedPages())) {
                return false;
            }
        }
        return true;
    }

    /** Pages that a sequence holds or is yet to take for its known tokens, in all groups. */
    long claim(Running running) {
        long claim = 0;
        for (int group = 0; group < layout.groupCount(); group++) {
            claim += running.pages().keptPages(group) + promised(group, running);
        }
        return claim;
    }

    /** Pages that a sequence of so many tokens needs, in all groups, where it finds none in the cache. */
    long need(int length) {
        long need = 0;
        for (int group = 0; group < layout.groupCount(); group++) {
            need += fresh(group, length, 0);
        }
        return need;
    }

    /** All pages that can be used, of all groups. */
    long pages() {
        long pages = 0;
        for (int group = 0; group < layout.groupCount(); group++) {
            pages += cache.total(group);
        }
        return pages;
    }

    private int fresh(int group, int length, int sharedPages) {
        int chunk = limits.chunkTokens();
        return Math.min(layout.pagesFor(length) - sharedPages, layout.peakPages(group, length, chunk));
    }

    private long promised(int group, RunningSet running) {
        long sum = 0;
        for (int rank = 0; rank < running.size(); rank++) {
            sum += promised(group, running.at(rank));
        }
        return sum;
    }

    /** Pages that a sequence has yet to take for its known tokens. */
    private int promised(int group, Running running) {
        int length = running.sequence().length();
        int all = layout.pagesFor(length) - running.pages().pageCount();
        int peak = layout.peakPages(group, length, limits.chunkTokens());
        return Math.max(0, Math.min(all, peak - running.pages().keptPages(group)));
    }
}
