package roselle.tokenizer.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.checkpoint.path.Checkpoints;
import roselle.testing.SharedData;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/** Windows give the tokens of the whole, in time that is in proportion to its length. */
class WindowedMergeTest {
    /** Far above what is needed on a busy machine, far below what a million symbols cost in quadratic time. */
    private static final Duration LINEAR = Duration.ofMinutes(2);

    private static final int MILLION = 1_000_000;

    /** A table of merges: which pairs merge, and what each rank makes. */
    @SuppressWarnings("ArrayRecordComponent") // built once, read only here
    private record Merges(PairTable pairs, int[] mergedOfRank) {
        /** Merges of random symbols, some of them into a symbol that another merge makes too. */
        static Merges random(Random random, int characters, int ranks) {
            var pairs = new PairTable(ranks);
            int[] merged = new int[ranks];
            int symbols = characters;
            for (int rank = 0; rank < ranks; rank++) {
                boolean again = rank > 0 && random.nextInt(5) == 0;
                merged[rank] = again ? merged[random.nextInt(rank)] : symbols++;
                pairs.put(random.nextInt(symbols), random.nextInt(symbols), rank, merged[rank]);
            }
            return new Merges(pairs, merged);
        }

        /** Each symbol merges with the next, sooner the further right: whether one does depends on all that follow. */
        static Merges chain(int symbols) {
            var pairs = new PairTable(symbols);
            int[] merged = new int[symbols];
            for (int rank = 0; rank < symbols - 1; rank++) {
                int left = symbols - 2 - rank;
                merged[rank] = symbols + left;
                pairs.put(left, left + 1, rank, merged[rank]);
            }
            return new Merges(pairs, merged);
        }

        SymbolMerger merger() {
            return new SymbolMerger(pairs, mergedOfRank, 8);
        }

        int[] whole(IdBuffer symbols) {
            var merger = merger();
            var merged = new IdBuffer(symbols.size());
            merger.merge(symbols, 0, symbols.size());
            merger.appendTo(merged);
            return merged.toArray();
        }

        int[] windowed(IdBuffer symbols, int window) {
            return WindowedMerge.merge(symbols, merger(), window, _ -> {}).toArray();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void joinsWindowsOfAnySizeIntoTheTokensOfTheWhole(long seed) {
        System.out.println("seed " + seed);
        var random = new Random(seed);
        for (int table = 0; table < 1000; table++) {
            int characters = 1 + random.nextInt(4);
            var merges = Merges.random(random, characters, 1 + random.nextInt(40));
            for (int text = 0; text < 10; text++) {
                IdBuffer symbols = symbols(random, characters, 1 + random.nextInt(300));
                int window = 1 + random.nextInt(20);
                assertThat(merges.windowed(symbols, window))
                        .as("table %d, text %d, window %d", table, text, window)
                        .isEqualTo(merges.whole(symbols));
            }
        }
    }

    /** Random symbols, or a random period repeated. */
    private static IdBuffer symbols(Random random, int characters, int size) {
        int period = random.nextBoolean() ? size : 1 + random.nextInt(12);
        var symbols = new IdBuffer(size);
        for (int i = 0; i < size; i++) {
            symbols.add(i < period ? random.nextInt(characters) : symbols.id(i - period));
        }
        return symbols;
    }

    @ParameterizedTest
    @CsvSource({"5000,1024", "5001,1024", "40000,16"})
    void reachesBackAsFarAsMergesDepend(int chain, int window) {
        var merges = Merges.chain(chain);
        var symbols = new IdBuffer(MILLION);
        for (int i = 0; i < MILLION; i++) {
            symbols.add(i % chain);
        }
        int[] merged = assertTimeoutPreemptively(LINEAR, () -> merges.windowed(symbols, window));
        assertThat(merged).isEqualTo(merges.whole(symbols));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "ab", "aab", "the", "0", "=-", "aeioutn", "\u00e9", "😀"})
    @Tag("shared-data")
    void tokenizesAMillionCharactersWithoutASpaceInLinearTime(String unit) {
        try (var checkpoint = Checkpoints.open(SharedData.path("vocab/ggml-vocab-gpt-2.gguf"))) {
            Tokenizer tokenizer = checkpoint.tokenizer();
            String text = unit.repeat(MILLION / unit.length());
            int[] ids = assertTimeoutPreemptively(LINEAR, () -> tokenizer.encode(text, EncodeOptions.PLAIN));
            assertThat(tokenizer.decode(ids, false)).isEqualTo(text);
        }
    }

    @Test
    @Tag("shared-data")
    void tokenizesAMillionRandomLettersLikeTheWhole() {
        try (var checkpoint = Checkpoints.open(SharedData.path("vocab/ggml-vocab-gpt-2.gguf"))) {
            Tokenizer tokenizer = checkpoint.tokenizer();
            var random = new Random(5);
            var text = new StringBuilder();
            for (int i = 0; i < MILLION; i++) {
                text.append((char) ('a' + random.nextInt(26)));
            }
            String letters = text.toString();
            int[] ids = assertTimeoutPreemptively(LINEAR, () -> tokenizer.encode(letters, EncodeOptions.PLAIN));
            assertThat(tokenizer.decode(ids, false)).isEqualTo(letters);
            // A seam of windows may lie anywhere; the pieces between spaces are merged in one window each.
            int[] first = tokenizer.encode(letters.substring(0, WindowedMerge.WINDOW), EncodeOptions.PLAIN);
            assertThat(ids).startsWith(Arrays.copyOf(first, first.length - 8));
        }
    }
}
