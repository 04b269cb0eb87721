package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.tokenizer.format.TokenizerFixture;

/** Guarded text has no special tokens, and otherwise the ids that it has without a guard's help. */
final class SpecialSpellingsTest {
    private static final long SEED = 20261122;
    private static final EncodeOptions GUARDED = new EncodeOptions(false, true, true);

    @ParameterizedTest
    @ValueSource(strings = {"llama3", "qwen2", "deepseek3", "phi3", "gemma", "command-r", "t5", "bert-cased"})
    void givesTheIdsOfOneSearchForEachSpelling(String family) {
        Tokenizer tokenizer = TokenizerFixture.ours(TokenizerFixture.json(family));
        var spellings = new SpecialSpellings(tokenizer);
        List<String> special = special(tokenizer);
        var texts = new RandomText(SEED, TokenizerFixture.spellings(tokenizer));
        int guarded = 0;
        for (int count = 0; count < 400; count++) {
            String text = texts.next() + special.get(count % special.size()) + EncodeOptions.GUARD + texts.next();
            String once = spellings.guard(text);
            assertThat(tokenizer.encode(once, GUARDED))
                    .as("seed %d, text %d: %s", SEED, count, text)
                    .isEqualTo(tokenizer.encode(searched(text, special), GUARDED));
            guarded += once.equals(text) ? 0 : 1;
        }
        assertThat(guarded).isPositive();
    }

    /** One search of the whole text for each spelling: slow, and plain to see. */
    private static String searched(String text, List<String> special) {
        String safe = text.replace(EncodeOptions.GUARD, '\uFFFD');
        for (String spelling : special) {
            safe = safe.replace(spelling, spelling.charAt(0) + "" + EncodeOptions.GUARD + spelling.substring(1));
        }
        return safe;
    }

    private static List<String> special(Tokenizer tokenizer) {
        var special = new ArrayList<String>();
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            if (tokenizer.isSpecial(id) && tokenizer.spellingOf(id).length() > 1) {
                special.add(tokenizer.spellingOf(id));
            }
        }
        return special;
    }

    @Test
    void leavesOrdinaryTextAsItIs() {
        Tokenizer tokenizer = TokenizerFixture.ours(TokenizerFixture.json("qwen2"));
        String text = "1 < 2, and <|im_star is no token";
        assertThat(new SpecialSpellings(tokenizer).guard(text)).isSameAs(text);
    }
}
