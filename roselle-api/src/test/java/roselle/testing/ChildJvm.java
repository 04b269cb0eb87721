package roselle.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a main class of the tests in a JVM of its own: for what is settled once per process, or may end it. */
public final class ChildJvm {
    /**
     * How it ended and what it said on both outputs.
     *
     * @param status its exit status
     */
    public record Result(int status, String said) {
        /** What it said, after it ended well. */
        public String success() {
            assertThat(status).as(said).isZero();
            return said;
        }
    }

    private ChildJvm() {}

    /** Runs it to its end, with the module of vectors. */
    public static Result run(List<String> flags, Class<?> main, String... arguments) {
        var all = new ArrayList<>(List.of("--add-modules", "jdk.incubator.vector"));
        all.addAll(flags);
        return runPlainly(all, main, arguments);
    }

    /** Runs it to its end with these flags alone. */
    public static Result runPlainly(List<String> flags, Class<?> main, String... arguments) {
        var command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-ea", "-Xmx1g"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), said);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a child runs", interruption);
        }
    }
}
