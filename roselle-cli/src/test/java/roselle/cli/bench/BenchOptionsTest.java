package roselle.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.cli.Main;
import roselle.cli.report.ExitCode;

/** What cannot be measured is said before an engine is started. */
final class BenchOptionsTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            online --backends stub --start-timeout -1     | --start-timeout is -1: it must be at least 1 s
            online --backends stub --prompt-mode trace    | does not say which prompts share a beginning
            online --backends stub --profile xyz          | there is no profile xyz
            online --backends triton                      | triton is not started here: name its address
            online --backends stub=https://h              | it must be http://host:port
            online --backends stub=h:1                    | it must be http://host:port
            online --backends stub --scales -1            | a scale is -1.0
            online --backends stub --prompt-mode foo      | the prompt mode is foo
            online --backends stub --gpus -1              | gpus is -1
            online --backends stub --trace .              | . is a folder: name the trace's file
            online --backends stub,stub                   | two backends have the same name
            offline --backends stub --input-len 5000      | do not fit the model's context of 1024
            capacity --backends stub --searches 0         | there are 0 searches
            """)
    void refusesWhatCannotBeMeasured(String line, String complaint) {
        var err = new StringWriter();
        var out = new StringWriter();
        String[] arguments = Stream.concat(
                        Stream.concat(Stream.of("bench"), Arrays.stream(line.split(" +"))),
                        Stream.of("--model", "demo", "--output-dir", folder.toString()))
                .toArray(String[]::new);

        int status = Main.commandLine(arguments)
                .setErr(new PrintWriter(err))
                .setOut(new PrintWriter(out))
                .execute(arguments);

        assertThat(status).as(err.toString()).isEqualTo(ExitCode.USAGE.status());
        assertThat(err.toString()).contains(complaint);
        assertThat(out.toString()).doesNotContain("starts");
    }

    @Test
    void drawsNoEmptyPage() {
        var err = new StringWriter();
        String[] arguments = {"bench", "plot", folder.toString(), "--output-dir", folder.toString()};

        int status = Main.commandLine(arguments).setErr(new PrintWriter(err)).execute(arguments);

        assertThat(status).isEqualTo(ExitCode.BAD_DATA.status());
        assertThat(err.toString()).contains(folder + " has no results");
        assertThat(folder.resolve("report.html")).doesNotExist();
    }
}
