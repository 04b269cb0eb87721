package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.tokenizer.format.TokenizerFixture;

/** Ids and texts equal those of Hugging Face's own library, for every family, on random Unicode. */
class HuggingFaceEquivalenceTest {
    private static final long SEED = 20261121;

    static Stream<String> families() {
        return TokenizerFixture.FAMILIES.stream();
    }

    @ParameterizedTest
    @MethodSource("families")
    void encodesAndDecodesRandomUnicodeAsTheLibraryDoes(String family) {
        compare(family, SEED, 1_200);
    }

    @Test
    void joinsMarksToUnassignedCharactersAsTheLibraryDoes() {
        byte[] json = TokenizerFixture.json("xlm-roberta");
        String text = "b\u1AB0\u1AF7\u1AEA\u0341\u093F\u03C4 \uD83F\uDFFD\u0341\u093F";
        try (HuggingFaceTokenizer theirs = TokenizerFixture.theirs(json)) {
            assertThat(TokenizerFixture.ours(json).encode(text, EncodeOptions.PLAIN))
                    .isEqualTo(ids(theirs.encode(text, false, false).getIds()));
        }
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("families")
    void encodesAndDecodesMuchRandomUnicodeAsTheLibraryDoes(String family) {
        compare(family, SEED + 1, 8_000);
    }

    private static void compare(String family, long seed, int texts) {
        byte[] json = TokenizerFixture.json(family);
        Tokenizer ours = TokenizerFixture.ours(json);
        var random = new Random(seed);
        var generator = new RandomText(seed, TokenizerFixture.spellings(ours));
        try (HuggingFaceTokenizer theirs = TokenizerFixture.theirs(json)) {
            for (int i = 0; i < texts; i++) {
                String text = generator.next();
                boolean addSpecial = i % 2 == 0;
                int[] expected = ids(theirs.encode(text, addSpecial, false).getIds());
                assertThat(ours.encode(text, new EncodeOptions(addSpecial, true)))
                        .as("seed %d, text %d: %s", seed, i, text)
                        .isEqualTo(expected);
                int[] ids = i % 2 == 0
                        ? expected
                        : random.ints(1 + random.nextInt(12), 0, ours.vocabularySize())
                                .toArray();
                compareDecoding(ours, theirs, ids, i % 3 == 0);
            }
        }
    }

    private static void compareDecoding(Tokenizer ours, HuggingFaceTokenizer theirs, int[] ids, boolean skipSpecial) {
        if (ids.length == 0) {
            return; // the library panics in some decoders
        }
        String expected = theirs.decode(Arrays.stream(ids).asLongStream().toArray(), skipSpecial);
        assertThat(ours.decode(ids, skipSpecial)).as(() -> Arrays.toString(ids)).isEqualTo(expected);
        assertThat(inSteps(ours, ids, skipSpecial))
                .as(() -> Arrays.toString(ids))
                .isEqualTo(expected);
    }

    private static String inSteps(Tokenizer tokenizer, int[] ids, boolean skipSpecial) {
        IncrementalDecoder decoder = tokenizer.incrementalDecoder(skipSpecial);
        var text = new StringBuilder();
        for (int id : ids) {
            text.append(decoder.append(id));
        }
        return text.append(decoder.finish()).toString();
    }

    private static int[] ids(long[] ids) {
        return Arrays.stream(ids).mapToInt(Math::toIntExact).toArray();
    }
}
