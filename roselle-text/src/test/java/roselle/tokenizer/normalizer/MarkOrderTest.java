package roselle.tokenizer.normalizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.text.Normalizer;
import java.text.Normalizer.Form;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Long runs of marks reach the JDK in order, and have the normal forms that they had. */
class MarkOrderTest {
    private static final long SEED = 20261122;
    private static final int[] MARKS = {
        0x300, 0x301, 0x316, 0x327, 0x328, 0x334, 0x344, 0x345, 0x34F, 0x35C, 0x5B0, 0x5BF, 0x64B, 0x93C, 0x94D, 0x3099,
        0x302A, 0x302E, 0xFF9E, 0xFF9F, 0x1D165, 0x1D16D, 0x1E8D0, 0x903, 0x20DD
    };

    @Test
    void keepsAllNormalForms() {
        var random = new Random(SEED);
        for (int round = 0; round < 60; round++) {
            var text = new StringBuilder("x");
            for (int run = 0; run < 3; run++) {
                text.append("ae\u00C5\u304B\u30AB ".charAt(random.nextInt(6)));
                random.ints(random.nextInt(300), 0, MARKS.length).forEach(mark -> text.appendCodePoint(MARKS[mark]));
            }
            for (NormalForm form : NormalForm.values()) {
                assertThat(form.of(text.toString()))
                        .as("seed %d, round %d, %s", SEED, round, form)
                        .isEqualTo(Normalizer.normalize(text, Form.valueOf(form.name())));
            }
        }
    }

    @Test
    void leavesTheJdkNothingToMove() {
        String ordered = new MarkOrder(Form.NFD).ordered("a" + "\u0301\u0316".repeat(50_000) + "b");
        assertThat(ordered).isEqualTo("a" + "\u0316".repeat(50_000) + "\u0301".repeat(50_000) + "b");
        assertThat(new MarkOrder(Form.NFKD).ordered("\uFF9E\u0316".repeat(100)))
                .isEqualTo("\u3099".repeat(100) + "\u0316".repeat(100));
    }

    @Test
    void leavesShortRunsAlone() {
        String text = "a\u0301\u0316b";
        assertThat(new MarkOrder(Form.NFD).ordered(text)).isSameAs(text);
    }
}
