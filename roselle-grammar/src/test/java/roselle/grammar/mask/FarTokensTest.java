package roselle.grammar.mask;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FarTokensTest {
    private static final String[] TOKENS = {
        "a", ",", ", ", ",\"", ",\"a", "\",\"a", "\",\"a\"", ",3", "", ",\"\"", "\\\",\"b"
    };

    @Test
    void tellsWhatTokensHaveBehindACommaHoweverOftenItIsAsked() {
        FarTokens far = new FarTokens(bytes());
        for (int times = 0; times < 2; times++) {
            assertThat(those(far, FarTokens.WITH_CONTENTS))
                    .containsExactly(",\"a", "\",\"a", "\",\"a\"", ",3", ",\"\"", "\\\",\"b");
            assertThat(those(far, FarTokens.WITH_ITEMS)).containsExactly("\",\"a\"");
            assertThat(those(far, FarTokens.WITH_KEYS)).containsExactly("\",\"a\"", ",\"\"");
        }
    }

    private static List<String> those(FarTokens far, int kind) {
        int[] all = new int[TOKENS.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = i;
        }
        List<String> found = new ArrayList<>();
        for (int token : far.those(all, kind)) {
            found.add(TOKENS[token]);
        }
        return found;
    }

    private static byte[][] bytes() {
        byte[][] tokens = new byte[TOKENS.length][];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = TOKENS[i].getBytes(StandardCharsets.UTF_8);
        }
        return tokens;
    }
}
