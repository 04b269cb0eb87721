package roselle.kvcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.backend.memory.KvGroup;

final class PageCacheTest {
    private static final int PAGE = 4;
    private static final KvGroup FULL = new KvGroup("full", 1, 1, 1, 1, 0);

    private PageCache cache = cacheOf(List.of(FULL), 8);

    private static PageCache cacheOf(List<KvGroup> groups, int pages) {
        return new PageCache(
                new PageLayout(groups, groups.stream().map(group -> pages).toList(), PAGE), 7);
    }

    private static KvGroup window(int tokens) {
        return new KvGroup("window", 1, 1, 1, 1, tokens);
    }

    private static final KvGroup STATE = KvGroup.ofState("delta", 1, 1, 1);

    /** A sequence in one step for its prompt, then token by token. */
    private SequencePages generate(int[] ids, int promptTokens) {
        SequencePages pages =
                cache.open(cache.match(PrefixScope.SHARED, ids, promptTokens - 1), ids.length, promptTokens);
        for (int tokens = promptTokens; tokens <= ids.length; tokens++) {
            assertThat(pages.reserve(tokens)).isEqualTo(tokens);
            pages.commit(ids, tokens);
            cache.checkIntegrity();
        }
        return pages;
    }

    @Test
    void aStateIsFoundWhereAPromptEndsAndWhereAnAnswerDoes() {
        cache = cacheOf(List.of(FULL, STATE), 32);
        int[] ids = ids(31);
        generate(ids, 18).release();
        assertThat(cache.match(PrefixScope.SHARED, ids, 17).tokens()).isEqualTo(16);
        assertThat(cache.match(PrefixScope.SHARED, ids, 27).tokens()).isEqualTo(16);
        assertThat(cache.match(PrefixScope.SHARED, ids(40), 39).tokens()).isEqualTo(28);
        assertThat(cache.counts(1).cached()).as("of states").isEqualTo(2);
    }

    @Test
    void aStateIsKeptWhereASecondSequenceLeavesTheFirst() {
        cache = cacheOf(List.of(FULL, STATE), 32);
        generate(ids(31), 30).release();
        int[] other = ids(31, 13);
        assertThat(cachedTokens(other)).isZero();
        generate(other, 30).release();
        assertThat(cachedTokens(ids(31, 14))).isEqualTo(12);
    }

    @Test
    void aStepOfAPromptTakesStatesBehindItsLastPagesAlone() {
        cache = cacheOf(List.of(FULL, STATE), 32);
        int[] ids = ids(31);
        SequencePages pages = cache.open(cache.match(PrefixScope.SHARED, ids, 30), 40, 31);
        assertThat(pages.reserve(23)).isEqualTo(23);
        assertThat(List.of(pages.page(1, 3), pages.page(0, 3))).containsExactly(-1, 3);
        assertThat(pages.keptPages(1)).isEqualTo(2);
        assertThat(pages.reserve(31)).as("a longer step ahead").isEqualTo(31);
        assertThat(pages.keptPages(1)).isEqualTo(4);
        assertThat(pages.reserve(24)).as("a shorter one in its place").isEqualTo(24);
        pages.commit(ids, 24);
        assertThat(pages.keptPages(1))
                .as("behind the last full page, and the prompt's")
                .isEqualTo(2);
        pages.release();
    }

    @Test
    void stepsWaitWhereNoStateIsLeft() {
        cache = new PageCache(new PageLayout(List.of(FULL, STATE), List.of(32, 3), PAGE), 7);
        SequencePages first = cache.open(cache.match(PrefixScope.SHARED, ids(9), 8), 40);
        assertThat(first.reserve(9)).isEqualTo(9);
        first.commit(ids(9), 9);
        SequencePages second = cache.open(cache.match(PrefixScope.SHARED, ids(9, 0), 8), 40);
        assertThat(second.reserve(9)).isZero();
        assertThat(second.reserve(3)).isEqualTo(3);
        second.release();
        first.release();
    }

    @AfterEach
    void recount() {
        cache.checkIntegrity();
    }

    private static int[] ids(int length, int... different) {
        int[] ids = new int[length];
        for (int i = 0; i < length; i++) {
            ids[i] = 100 + i;
        }
        for (int at : different) {
            ids[at] = -1;
        }
        return ids;
    }

    private SequencePages compute(int[] ids) {
        return compute(PrefixScope.SHARED, ids);
    }

    private SequencePages compute(PrefixScope scope, int[] ids) {
        SequencePages pages = cache.open(cache.match(scope, ids, ids.length - 1), ids.length + 16);
        assertThat(pages.reserve(ids.length)).isEqualTo(ids.length);
        pages.commit(ids, ids.length);
        return pages;
    }

    private int cachedTokens(int[] ids) {
        return cache.match(PrefixScope.SHARED, ids, ids.length - 1).tokens();
    }

    @Test
    void aPrefixIsFoundWhileItsSequenceRunsAndAfterItEnded() {
        SequencePages first = compute(ids(10));
        assertThat(cachedTokens(ids(9, 8))).isEqualTo(8);
        first.release();
        assertThat(cachedTokens(ids(9, 8))).isEqualTo(8);
        assertThat(cache.counts(0)).isEqualTo(new PageCounts(8, 6, 2, 0, 8, 0));
    }

    @Test
    void theLastTokenOfAPromptIsAlwaysComputed() {
        compute(ids(8)).release();
        assertThat(cachedTokens(ids(8))).isEqualTo(7);
        assertThat(cachedTokens(ids(4))).isEqualTo(3);
    }

    @Test
    void aPartialPageIsSharedByCopyAndItsSourceStaysUntilTheCommit() {
        compute(ids(8)).release();
        PrefixMatch match = cache.match(PrefixScope.SHARED, ids(12, 6), 11);
        assertThat(match.tokens()).isEqualTo(6);
        SequencePages pages = cache.open(match, 12);
        assertThat(pages.needsCopy()).isTrue();
        assertThat(pages.copyTarget(0)).isEqualTo(pages.page(0, 1)).isNotEqualTo(pages.copySource(0));
        int source = pages.copySource(0);
        pages.reserve(12);
        assertThat(cache.available(0)).isEqualTo(8 - 3 - 1);
        pages.commit(ids(12, 6), 12);
        assertThat(pages.needsCopy()).isFalse();
        assertThat(cache.available(0)).isEqualTo(8 - 3);
        assertThat(source).isNotEqualTo(pages.page(0, 1));
        pages.release();
    }

    @Test
    void saltsAndAdaptersShareNothing() {
        compute(new PrefixScope("a", ""), ids(8)).release();
        assertThat(cachedTokens(ids(8))).isZero();
        assertThat(cache.match(new PrefixScope("a", "lora"), ids(8), 7).tokens())
                .isZero();
        assertThat(cache.match(new PrefixScope("a", ""), ids(8), 7).tokens()).isEqualTo(7);
    }

    @Test
    void theLeafUsedLongestAgoIsEvictedFirst() {
        compute(ids(8, 4)).release();
        compute(ids(8, 5)).release();
        compute(ids(8, 4)).release(); // used again
        SequencePages large = cache.open(cache.match(new PrefixScope("x", ""), ids(24), 23), 24);
        assertThat(large.reserve(24)).isEqualTo(24);
        assertThat(cachedTokens(ids(9, 4))).as("evicted last").isEqualTo(8);
        assertThat(cachedTokens(ids(9, 5, 8)))
                .as("evicted, but for the page it shares with its sibling")
                .isEqualTo(4);
        large.release();
    }

    @Test
    void pagesInUseAreNeverEvicted() {
        SequencePages first = compute(ids(16));
        SequencePages second = cache.open(cache.match(new PrefixScope("x", ""), ids(40), 39), 40);
        assertThat(second.reserve(40)).as("8 pages less 4 hold 16 tokens").isEqualTo(16);
        assertThat(cache.available(0)).isZero();
        first.release();
        assertThat(second.reserve(40)).isEqualTo(32);
        second.release();
    }

    @Test
    void twoThatComputeTheSamePageEndUpSharingIt() {
        SequencePages first = cache.open(cache.match(PrefixScope.SHARED, ids(8), 7), 16);
        SequencePages second = cache.open(cache.match(PrefixScope.SHARED, ids(8), 7), 16);
        first.reserve(8);
        second.reserve(8);
        assertThat(cache.counts(0).owned()).isEqualTo(4);
        first.commit(ids(8), 8);
        second.commit(ids(8), 8);
        assertThat(second.page(0, 1)).isEqualTo(first.page(0, 1));
        assertThat(cache.counts(0)).isEqualTo(new PageCounts(8, 6, 2, 0, 6, 0));
        first.release();
        second.release();
    }

    @Test
    void aWindowGroupFreesPagesBehindTheWindow() {
        cache = cacheOf(List.of(FULL, window(5)), 16);
        SequencePages pages = compute(ids(22));
        // The query at 22 sees 18 to 22: pages 0 to 3 are behind.
        assertThat(pages.page(1, 3)).isEqualTo(-1);
        assertThat(pages.page(1, 4)).isNotNegative();
        assertThat(pages.page(0, 0)).isNotNegative();
        assertThat(pages.keptPages(1)).isEqualTo(2);
        pages.release();
    }

    @Test
    void aMatchEndsWhereTheWindowStillHasItsPages() {
        cache = cacheOf(List.of(FULL, window(5)), 5);
        var pages = cache.open(cache.match(PrefixScope.SHARED, ids(20), 19), 20);
        for (int computed = 4; computed <= 20; computed += 4) {
            pages.reserve(computed);
            pages.commit(ids(20), computed);
        }
        pages.release();
        assertThat(cachedTokens(ids(21))).isEqualTo(20);
        // Two pages of the window group go to another; the oldest of this prefix go first.
        var other = cache.match(new PrefixScope("x", ""), ids(8), 7);
        var taken = cache.open(other, 8);
        taken.reserve(8);
        int left = cachedTokens(ids(21));
        assertThat(left % PAGE).isZero();
        assertThat(left).isLessThanOrEqualTo(20);
        cache.checkIntegrity();
        taken.release();
    }

    @Test
    void generatedTokensAreFoundToo() {
        SequencePages pages = compute(ids(6));
        pages.reserve(9);
        pages.commit(ids(9), 9);
        pages.release();
        assertThat(cachedTokens(ids(10))).isEqualTo(8);
    }

    @Test
    void releasingTwiceAndUsingReleasedPagesAreErrors() {
        SequencePages pages = compute(ids(6));
        pages.release();
        assertThatThrownBy(pages::release).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> pages.reserve(8)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> pages.commit(ids(8), 8)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aMatchIsVoidAfterAnyChange() {
        PrefixMatch match = cache.match(PrefixScope.SHARED, ids(8), 7);
        compute(ids(4)).release();
        assertThatThrownBy(() -> cache.open(match, 8)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void scopesComeAndGoWithoutFillingTheTree() {
        for (int i = 0; i < 1000; i++) {
            compute(new PrefixScope("salt" + i, ""), ids(8)).release();
        }
        assertThat(cache.counts(0).available()).isEqualTo(8);
    }

    @Test
    void pagesAreLentOnceNobodyUsesThem() {
        SequencePages running = compute(ids(8));
        compute(ids(12, 0)).release();
        assertThat(cache.counts(0)).isEqualTo(new PageCounts(8, 3, 5, 0, 6, 0));

        assertThat(cache.resize(0, 3))
                .as("the free ones first, then the cached")
                .hasSize(5);
        assertThat(cache.counts(0)).isEqualTo(new PageCounts(3, 0, 3, 0, 1, 5));
        assertThat(cachedTokens(ids(9, 8))).as("of the one that runs").isEqualTo(8);
        assertThat(cache.resize(0, 0)).as("what is in use stays").hasSize(1);
        assertThat(cache.resize(0, 0)).isEmpty();
        running.release();
        assertThat(cache.resize(0, 0)).hasSize(2);
        assertThat(cache.counts(0)).isEqualTo(new PageCounts(0, 0, 0, 0, 0, 8));

        assertThat(cache.resize(0, 2)).containsExactly(0, 1);
        assertThat(cache.resize(0, 100)).as("no more than there are").containsExactly(2, 3, 4, 5, 6, 7);
        assertThat(cachedTokens(ids(9, 8))).isZero();
        compute(ids(10)).release();
        assertThat(cachedTokens(ids(9, 8))).isEqualTo(8);
    }
}
