package roselle.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.bench.backend.BackendException;
import roselle.bench.backend.Sampling;

/** A driver in a shell instead of a Python, so that it is known what it was given. */
final class DriverStageTest {
    @TempDir
    private Path folder;

    @Test
    void givesALibraryWhatItsServerIsGiven() throws Exception {
        String python = python("""
                printf '{"version":"%s","seconds":[9,1,2],"output_tokens":8,"ready_seconds":3,"note":"%s"}' \\
                    "$KV_SPACE" "$(tr -d '"' < "$2" | cut -c1-90)" > "$3"
                """);

        OfflineRun run = stage().run(library(python), Duration.ofMinutes(2));

        assertThat(run.version()).isEqualTo("1 GiB");
        assertThat(run.note()).startsWith("{model:a-model,flags:[--dtype,float32],prefix_cache:true,output_tokens:4,");
        assertThat(run.seconds()).containsExactly(1.0, 2.0); // the first repeat warms up
        assertThat(run.outputTokens()).isEqualTo(8);
    }

    @Test
    void tellsWhyADriverFailed() throws Exception {
        String python = python("echo 'ValueError: too little memory'; exit 1");

        assertThatThrownBy(() -> stage().run(library(python), Duration.ofMinutes(2)))
                .isInstanceOf(BackendException.class)
                .hasMessage("it ended with status 1: ValueError: too little memory");
    }

    private String python(String does) throws IOException {
        Path file = Files.writeString(folder.resolve("python"), "#!/bin/sh\n" + does);
        assertThat(file.toFile().setExecutable(true)).isTrue();
        return file.toString();
    }

    private static DriverStage.Library library(String python) {
        return new DriverStage.Library(
                "ours", "vllm", python, "a-model", List.of("--dtype", "float32"), Map.of("KV_SPACE", "1 GiB"), true);
    }

    private DriverStage stage() {
        var plan = new OfflinePlan(2, 3, 4, Sampling.DEFAULT, 1, 2);
        return new DriverStage(plan, PromptSource.ofVocabulary(100), folder);
    }
}
