package roselle.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.bench.trace.PromptMode;
import roselle.bench.trace.Trace;
import roselle.bench.trace.TraceEntry;
import roselle.hub.BundledModel;

final class PromptSourceTest {
    private static final Trace TRACE = new Trace("test", "constant", 0, List.of(entry(3), entry(5)), 0);

    /** {@code random.Random(2)}, {@code randrange(50256)} eight times, as Python prints it: one stream for all prompts. */
    @Test
    void drawsTheArticlesPromptsAsTheirScriptDoes() {
        List<int[]> prompts = PromptSource.ofVocabulary(50257).drawnAsPython().ids(TRACE, PromptMode.INDEPENDENT, 2);

        assertThat(prompts.get(0)).containsExactly(3706, 6002, 5562);
        assertThat(prompts.get(1)).containsExactly(23662, 11081, 48232, 43891, 20194);
    }

    @Test
    void drawsNoTokenThatMarksStructure() throws IOException {
        PromptSource source = PromptSource.of(BundledModel.DEMO.unpackInto(Path.of("target", "models")));
        int[] prompt = source.ids(
                        new Trace("test", "constant", 0, List.of(entry(20_000)), 0), PromptMode.INDEPENDENT, 1)
                .getFirst();

        assertThat(Arrays.stream(prompt).distinct().count()).isGreaterThan(500);
        assertThat(prompt).doesNotContain(0);
        assertThat(source.context()).isPositive();
    }

    private static TraceEntry entry(int tokens) {
        return new TraceEntry(0, tokens, 1, List.of());
    }
}
