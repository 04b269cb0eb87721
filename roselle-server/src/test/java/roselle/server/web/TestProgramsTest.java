package roselle.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.io.TempDir;

/** Tests whose programs are missing are skipped with a sentence, and run, to fail, where all must be there. */
@DisabledOnOs(OS.WINDOWS)
final class TestProgramsTest {
    private static final String[] BROWSER = {"chromedriver", "chromium"};

    @TempDir
    private Path folder = Path.of("");

    private ConditionEvaluationResult evaluated(boolean mustBeThere) {
        String path = folder.resolve("absent") + File.pathSeparator + folder;
        return NeedsPrograms.Condition.evaluated(BROWSER, new TestPrograms(path, mustBeThere));
    }

    private void install(String name) throws IOException {
        assertThat(Files.createFile(folder.resolve(name)).toFile().setExecutable(true))
                .isTrue();
    }

    @Test
    void whatIsMissingIsSaid() throws IOException {
        install("chromedriver");
        assertThat(evaluated(false).isDisabled()).isTrue();
        assertThat(evaluated(false).getReason()).hasValue("chromium is not installed: run tools/test-programs.sh");
    }

    @Test
    void whatMustBeThereFailsTheTestsThemselves() {
        assertThat(evaluated(true).isDisabled()).isFalse();
    }

    @Test
    void nothingIsSkippedWhereEveryProgramIs() throws IOException {
        for (String name : BROWSER) {
            install(name);
        }
        assertThat(evaluated(false).isDisabled()).isFalse();
    }
}
