package roselle.kvcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.memory.KvGroup;

/**
 * What conversations find of their earlier turns where layers keep states: the pages are those of an engine, whose steps are played
 * without computing anything.
 */
final class ConversationHitsTest {
    private static final int PAGE = 16;
    private static final int STEP = 512; // tokens of a prompt that are computed at a time
    private static final KvGroup FULL = new KvGroup("full", 1, 1, 1, 1, 0);
    private static final KvGroup STATE = KvGroup.ofState("delta", 1, 1, 1);

    /** Pages of keys and values that take the memory of one state in the shape of Qwen3.6-27B: 151 MB, that of 2,304 tokens. */
    private static final int PAGES_OF_A_STATE = 2304 / PAGE;

    private final Random random = new Random(20301);

    private static PageCache cacheOf(int pages, int states) {
        return states == 0
                ? new PageCache(new PageLayout(List.of(FULL), List.of(pages), PAGE), 7)
                : new PageCache(new PageLayout(List.of(FULL, STATE), List.of(pages, states), PAGE), 7);
    }

    /** Answers a prompt with the rest of {@code ids}; returns how many tokens of the prompt were found. */
    private static int answer(PageCache cache, int[] ids, int promptTokens) {
        PrefixMatch match = cache.match(PrefixScope.SHARED, ids, promptTokens - 1);
        SequencePages pages = cache.open(match, ids.length, promptTokens);
        int found = match.tokens();
        for (int end = found; end < ids.length; ) {
            end = end < promptTokens ? Math.min(end + STEP, promptTokens) : end + 1;
            assertThat(pages.reserve(end)).isEqualTo(end);
            pages.commit(ids, end);
        }
        pages.release();
        return found;
    }

    private int[] tokens(int count) {
        return random.ints(count, 0, 150_000).toArray();
    }

    private static int[] joined(int[]... parts) {
        return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
    }

    @Test
    void aConversationThatGrowsComputesNoMoreThanTwoPagesAgain() {
        PageCache cache = cacheOf(65_000 / PAGE, 16);
        int[] known = tokens(1500);
        while (known.length < 64_000) {
            int[] prompt = joined(known, tokens(1 + random.nextInt(600)));
            int[] ids = joined(prompt, tokens(1 + random.nextInt(300)));
            int found = answer(cache, ids, prompt.length);
            if (known.length > 1500) {
                assertThat(known.length - found).as("again of %d", known.length).isLessThan(PAGE + PAGE);
            }
            known = ids;
        }
        cache.checkIntegrity();
    }

    @SuppressWarnings("ArrayRecordComponent") // nobody compares turns
    private record Turn(int[] said, int[] answered) {}

    /** A conversation so far, behind a system prompt. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Conversation(int[] system, List<Turn> turns) {
        int[] ids() {
            return joined(
                    system,
                    joined(turns.stream()
                            .flatMap(turn -> Stream.of(turn.said(), turn.answered()))
                            .toArray(int[][]::new)));
        }

        /** Goes back to where it had so many turns. */
        void keep(int count) {
            turns.subList(count, turns.size()).clear();
        }
    }

    /**
     * Six agents of up to 64,000 tokens each, 400 turns: of twenty, one is answered anew, one goes on from an earlier turn, the others
     * append; what does not fit begins anew behind its system prompt.
     */
    private long found(int pages, int states, long seed) {
        random.setSeed(seed);
        PageCache cache = cacheOf(pages, states);
        int[][] systems = {tokens(6_000), tokens(12_000), tokens(20_000)};
        var conversations = new ArrayList<Conversation>();
        for (int i = 0; i < 6; i++) {
            conversations.add(new Conversation(systems[i % systems.length], new ArrayList<>()));
        }
        long found = 0;
        for (int i = 0; i < 400; i++) {
            Conversation conversation = conversations.get(random.nextInt(conversations.size()));
            int count = conversation.turns().size();
            int kind = count == 0 ? 19 : random.nextInt(20);
            int[] said = tokens(random.nextInt(4) == 0 ? 500 + random.nextInt(3000) : 20 + random.nextInt(400));
            if (kind == 0) {
                said = conversation.turns().getLast().said();
                conversation.keep(count - 1);
            } else if (kind == 1) {
                conversation.keep(random.nextInt(count));
            } else if (conversation.ids().length > 60_000) {
                conversation.keep(0);
            }
            int[] prompt = joined(conversation.ids(), said);
            int[] answered = tokens(10 + random.nextInt(600));
            found += answer(cache, joined(prompt, answered), prompt.length);
            conversation.turns().add(new Turn(said, answered));
        }
        cache.checkIntegrity();
        return found;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void branchesFindWhatAttentionAloneFinds(long seed) {
        int pages = 6 * 64_000 / PAGE;
        int states = pages / 10 / PAGES_OF_A_STATE;

        long ofAttention = found(pages, 0, seed);

        assertThat(found(pages, states, seed))
                .as("tokens found with %d states, of %d", states, ofAttention)
                .isGreaterThanOrEqualTo(ofAttention * 95 / 100);
    }

    /** With the memory of their states a tenth of that of their keys and values. */
    @Test
    void threeAgentsOfTwoHundredTurnsGoOnFromTheirLastPromptOrAnswer() {
        int pages = 3 * 48_000 / PAGE;
        PageCache cache = cacheOf(pages, pages / 10 / PAGES_OF_A_STATE);
        int[][] known = {tokens(4_000), tokens(2_000), tokens(3_000)};
        int[] lastPrompt = new int[known.length];
        for (int turn = 0; turn < 200; turn++) {
            for (int agent = 0; agent < known.length; agent++) {
                int[] prompt = joined(known[agent], tokens(20 + random.nextInt(200)));
                int[] ids = joined(prompt, tokens(10 + random.nextInt(120)));
                int found = answer(cache, ids, prompt.length);
                assertThat(found).as("found of %d", prompt.length).isGreaterThan(lastPrompt[agent] - PAGE - PAGE);
                known[agent] = ids;
                lastPrompt[agent] = prompt.length;
            }
        }
        cache.checkIntegrity();
    }
}
