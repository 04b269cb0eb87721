package roselle.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.hub.BundledModel;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

final class PromptsTest {
    private static final int[] IDS = {3, 5, 8, 13, 21, 34, 55, 89};
    private static final Trace TRACE =
            new Trace("test", "mooncake", 4, List.of(entry(6, 1, 2), entry(7, 1, 3), entry(4, 2)), 0);

    @Test
    void hasExactlyTheTracesLengths() {
        for (PromptMode mode : PromptMode.values()) {
            assertThat(new Prompts(IDS, 1).of(TRACE, mode))
                    .as(mode.label())
                    .extracting(prompt -> prompt.length)
                    .containsExactly(6, 7, 4);
        }
    }

    @Test
    void sharesOneBeginningInTheSharedBaseMode() {
        List<int[]> prompts = new Prompts(IDS, 1).of(TRACE, PromptMode.SHARED_BASE);

        assertThat(Arrays.copyOf(prompts.get(1), 6)).isEqualTo(prompts.get(0));
        assertThat(Arrays.copyOf(prompts.get(1), 4)).isEqualTo(prompts.get(2));
    }

    @Test
    void sharesTheTracesBlocksAndNoMore() {
        List<int[]> prompts = new Prompts(IDS, 1).of(TRACE, PromptMode.TRACE);

        assertThat(Arrays.copyOf(prompts.get(0), 4)).isEqualTo(Arrays.copyOf(prompts.get(1), 4));
        assertThat(Arrays.copyOfRange(prompts.get(0), 4, 6)).isEqualTo(Arrays.copyOf(prompts.get(2), 2));
        assertThat(Arrays.copyOfRange(prompts.get(1), 4, 6)).isNotEqualTo(Arrays.copyOfRange(prompts.get(0), 4, 6));
    }

    /** By hand: nothing; block 1; nothing, as block 2 begins no earlier one; six of the first request; all seven. */
    @Test
    void countsWhatAPrefixCacheCanFind() {
        List<TraceEntry> entries = List.of(entry(6, 1, 2), entry(7, 1, 3), entry(4, 2), entry(8, 1, 2), entry(7, 1, 3));

        assertThat(new Trace("test", "mooncake", 4, entries, 0).sharedTokens()).isEqualTo(0 + 4 + 0 + 6 + 7);
    }

    /** The longest common beginning of the prompts themselves, with every earlier one. */
    @Test
    void countsWhatThePromptsReallyShare() {
        var random = new java.util.SplittableRandom(11);
        List<TraceEntry> entries = java.util.stream.IntStream.range(0, 60)
                .mapToObj(_ -> entry(1 + random.nextInt(12), random.nextInt(2), random.nextInt(3), random.nextInt(3)))
                .toList();
        var trace = new Trace("test", "mooncake", 4, entries, 0);
        int[] ids = java.util.stream.IntStream.range(0, 1_000_000).toArray();
        List<int[]> prompts = new Prompts(ids, 1).of(trace, PromptMode.TRACE);
        long shared = 0;
        for (int i = 0; i < prompts.size(); i++) {
            int longest = 0;
            for (int[] earlier : prompts.subList(0, i)) {
                int at = Arrays.mismatch(prompts.get(i), earlier);
                longest = Math.max(longest, at < 0 ? prompts.get(i).length : at);
            }
            shared += longest;
        }

        assertThat(trace.sharedTokens()).isEqualTo(shared).isPositive();
    }

    @Test
    void sharesNothingInTheIndependentMode() {
        int[] ids = java.util.stream.IntStream.range(0, 1000).toArray();
        List<int[]> prompts = new Prompts(ids, 1).of(TRACE, PromptMode.INDEPENDENT);

        assertThat(prompts.get(0)[0]).isNotEqualTo(prompts.get(1)[0]).isNotEqualTo(prompts.get(2)[0]);
    }

    @Test
    void refusesTheTracesModeWhereTheTraceTellsNothing() {
        var silent = new Trace("test", "azure", 0, List.of(entry(6)), 0);

        assertThatThrownBy(() -> new Prompts(IDS, 1).of(silent, PromptMode.TRACE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("does not say which prompts share a beginning");
    }

    @Test
    void refusesBlocksThatDoNotCoverThePrompt() {
        var short1 = new Trace("test", "mooncake", 4, List.of(entry(9, 1, 2)), 0);

        assertThatThrownBy(() -> new Prompts(IDS, 1).of(short1, PromptMode.TRACE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("do not cover it");
    }

    @Test
    void writesTextThatATokenizerReadsAsExactlySoManyTokens() throws IOException {
        try (Checkpoint demo = Checkpoints.open(BundledModel.DEMO.unpackInto(Path.of("target", "models")))) {
            Tokenizer tokenizer = demo.tokenizer();
            var text = new PromptText(tokenizer);
            int[] words = text.words(5);

            for (int length : new int[] {2, 3, 17, 64, 301, 500}) {
                int[] drawn = TokenDraw.of(words, length).take(length);
                String prompt = text.ofLength(drawn, length);
                assertThat(tokenizer.encode(prompt, new EncodeOptions(true, false)))
                        .hasSize(length);
            }
        }
    }

    private static TraceEntry entry(int inputTokens, long... blocks) {
        return new TraceEntry(0, inputTokens, 1, Arrays.stream(blocks).boxed().toList());
    }
}
