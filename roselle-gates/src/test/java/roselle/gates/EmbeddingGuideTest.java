package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/guide/embedding.md, as it is written there, compiles and runs with the flags of that page. */
final class EmbeddingGuideTest {
    private static final Path PAGE = Path.of("docs/guide/embedding.md");
    private static final String HEAD = """
            package app;
            import java.nio.file.Path;
            import roselle.api.GenerationEvent.TokenGenerated;
            import roselle.api.GenerationRequest;
            import roselle.engine.Engine;
            import roselle.engine.EngineConfig;
            class Story {
            public static void main(String[] arguments) {
            """;

    @TempDir
    private Path folder = Path.of("");

    private GuideProgram program;

    @BeforeEach
    void writeTheProgram() throws IOException {
        program = new GuideProgram(folder, "app.Story", HEAD + GuideProgram.of(PAGE) + "}\n}\n");
    }

    private static void requireStory(GuideProgram.Ended ended) {
        assertThat(ended.status()).as(ended.said()).isZero();
        assertThat(ended.said()).contains("fox").doesNotContain("--enable-native-access");
    }

    @Test
    void worksAsANamedModule() throws IOException, InterruptedException {
        requireStory(program.runAsModule("module app { requires roselle; }\n"));
    }

    @Tag("long")
    @Test
    void worksWithTheModuleOfTheEngineAlone() throws IOException, InterruptedException {
        requireStory(program.runAsModule("module app { requires roselle.engine; }\n"));
    }

    @Tag("long")
    @Test
    void worksOnTheClassPath() throws IOException, InterruptedException {
        requireStory(program.runOnTheClassPath());
    }
}
