package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/guide/types.md, as it is written there, runs on either path, and is told what to open. */
@Tag("long")
final class TypesGuideTest {
    private static final Path PAGE = Path.of("docs/guide/types.md");

    @TempDir
    private Path folder = Path.of("");

    private GuideProgram program;

    @BeforeEach
    void writeTheProgram() throws IOException {
        program = new GuideProgram(folder, "app.Zoo", GuideProgram.of(PAGE));
    }

    private static void requireAnimals(GuideProgram.Ended ended) {
        assertThat(ended.status()).as(ended.said()).isZero();
        assertThat(ended.said())
                .contains("Animal[name=", "[0].name goes on: ", "[0].legs is ", "all: [Animal[name=")
                .doesNotContain("cut at");
    }

    @Test
    void worksOnTheClassPath() throws IOException, InterruptedException {
        requireAnimals(program.runOnTheClassPath());
    }

    @Test
    void worksAsANamedModuleThatOpensItsRecords() throws IOException, InterruptedException {
        requireAnimals(program.runAsModule("module app { requires roselle; opens app to roselle.engine; }\n"));
    }

    @Test
    void aNamedModuleIsToldWhatToOpen() throws IOException, InterruptedException {
        GuideProgram.Ended ended = program.runAsModule("module app { requires roselle; }\n");
        assertThat(ended.status()).isNotZero();
        assertThat(ended.said())
                .contains("Animal: the constructor of Animal is not accessible: add \"opens app to"
                        + " roselle.engine;\" to the module-info.java of app");
    }
}
