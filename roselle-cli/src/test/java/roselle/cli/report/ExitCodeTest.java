package roselle.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.cli.Main;

/** Each failure has its exit code and one sentence. */
final class ExitCodeTest {
    /** A command that fails in the way it was made for. */
    @Command(name = "fail", mixinStandardHelpOptions = true)
    private record Failing(Throwable failure) implements Runnable {
        @Override
        public void run() {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        }
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                arguments(65, new CheckpointException("model.gguf: offset 4: version 9 is not 2 or 3")),
                arguments(66, CheckpointException.missing(Path.of("model.gguf"))),
                arguments(77, new CheckpointException("model.gguf", new AccessDeniedException("model.gguf"))),
                arguments(65, new InvalidRequestException("line 3 is not a JSON string")),
                arguments(69, new CapacityException("needs 9 pages, has 4")),
                arguments(69, new DeviceException("no GPU")),
                arguments(69, new OutOfMemoryError("Java heap space")),
                arguments(66, new NoSuchFileException("prompt.txt")),
                arguments(66, new UncheckedIOException(new NoSuchFileException("prompt.txt"))),
                arguments(65, new ExecutionException(new InvalidRequestException("no"))),
                arguments(69, new BindException("Address already in use")),
                arguments(75, new ConnectException("refused")),
                arguments(74, new IOException("No space left on device")),
                arguments(70, new IllegalStateException("page 7 is free")));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void mapsTheFailure(int status, Throwable failure) {
        assertThat(ExitCode.of(failure).status()).isEqualTo(status);
        assertThat(ExitCode.sentence(failure)).isNotBlank().doesNotContain("\n", "null");
    }

    @Test
    void treatsAnOptionThatTheEngineRefusesAsMisuse() {
        var command = new CommandLine(new Failing(new IllegalStateException()));
        assertThatThrownBy(() -> ExitCode.checkingOptions(command, () -> {
                    throw new InvalidRequestException("temperature is -1.0: it must be at least 0");
                }))
                .isInstanceOf(ParameterException.class)
                .hasMessage("temperature is -1.0: it must be at least 0");
    }

    @Test
    void printsOneSentenceAndNoStackTrace() {
        assertThat(run("fail")).isEqualTo("roselle: model.gguf: no such file or folder" + System.lineSeparator());
    }

    @Test
    void printsTheStackTraceWhenAsked() {
        assertThat(run("fail", "--debug")).contains("model.gguf: no such file or folder", "\tat roselle.cli.");
    }

    @Test
    void tellsOfErrorsAsOfExceptions() {
        var err = new StringWriter();
        for (Error error : new Error[] {new OutOfMemoryError("Java heap space"), new StackOverflowError()}) {
            int status = Main.commandLine("fail")
                    .addSubcommand(new Failing(error))
                    .setErr(new PrintWriter(err, true))
                    .execute("fail");
            assertThat(status).isEqualTo(ExitCode.of(error).status());
        }
        assertThat(err.toString())
                .contains("roselle: not enough memory (Java heap space)", "roselle: internal error:")
                .doesNotContain("\tat ");
    }

    private static String run(String... arguments) {
        var err = new StringWriter();
        int status = Main.commandLine(arguments)
                .addSubcommand(new Failing(CheckpointException.missing(Path.of("model.gguf"))))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
        assertThat(status).isEqualTo(66);
        return err.toString();
    }
}
