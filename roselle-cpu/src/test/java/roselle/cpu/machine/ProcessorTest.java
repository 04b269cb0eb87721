package roselle.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import roselle.cpu.machine.Processor.Answers;
import roselle.cpu.machine.Processor.Feature;

/** What is made of a processor's answers: those of a Sapphire Rapids, as Bochs gives them to the emitted stubs. */
class ProcessorTest {
    private static final int SAVED = 0x600e7;
    private static final int BFLOAT16_TILES = 1 << 22;
    private static final int TILES = 1 << 24;

    private static Answers answers(int saved, int withoutInSeventh) {
        return new Answers(0x7ffef39f, 0xf1bf27eb, 0x18415f66, 0xffc04410 & ~withoutInSeventh, 0x00001c30, saved);
    }

    private static Set<Feature> features(int saved) {
        return answers(saved, 0).features(state -> state == 18);
    }

    @Test
    void aProcessorWithTilesHasAll() {
        assertThat(features(SAVED)).containsExactlyInAnyOrder(Feature.values());
    }

    @Test
    void tilesNeedBothTheirBits() {
        for (int bit : new int[] {BFLOAT16_TILES, TILES}) {
            assertThat(answers(SAVED, bit).features(state -> true))
                    .contains(Feature.BF16)
                    .doesNotContain(Feature.AMX);
        }
    }

    @Test
    void tilesNeedASystemThatSavesAndPermitsThem() {
        for (int state : new int[] {1 << 17, 1 << 18}) {
            assertThat(features(SAVED & ~state)).contains(Feature.BF16).doesNotContain(Feature.AMX);
        }
        assertThat(answers(SAVED, 0).features(state -> false))
                .contains(Feature.BF16)
                .doesNotContain(Feature.AMX);
    }

    @Test
    void aSystemThatDoesNotSaveWideRegistersHasNarrowOnes() {
        assertThat(features(0x7)).containsExactly(Feature.AVX2);
        assertThat(features(0x3)).isEmpty();
        assertThat(features(0)).isEmpty();
    }
}
