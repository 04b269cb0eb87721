package roselle.scheduler;

import roselle.batch.Batch;
import roselle.kvcache.PageCache;
import roselle.kvcache.PageLayout;
import roselle.kvcache.PrefixScope;

/** A place where a test plants a bug into a simulation; by default there is none. */
interface Sabotage {
    Sabotage NONE = new Sabotage() {};

    /** Changes what the cache believes about its groups. */
    default PageLayout layout(PageLayout layout) {
        return layout;
    }

    /** Changes with whom a sequence shares. */
    default PrefixScope scope(PrefixScope scope) {
        return scope;
    }

    /** Changes the cache behind the scheduler's back, after it planned. */
    default void afterPlan(PageCache cache, Batch batch) {}

    /** Whether the executor copies pages that it is told to copy. */
    default boolean copies() {
        return true;
    }

    /** Whether the executor computes this row of a sequence. */
    default boolean computes(int row, int rows) {
        return true;
    }

    /** Whether a row goes ahead though the device does not sample its token. */
    default boolean launchesHostRows() {
        return false;
    }

    /** Whether the audit runs after each step; without it only what the executor reads can give a bug away. */
    default boolean audits() {
        return true;
    }
}
