package roselle.bench.environment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Small commands of the system whose answer is a few lines. */
final class Shell {
    private static final int SECONDS = 10;
    private static final int MAX_BYTES = 1 << 20;

    private Shell() {}

    /** What a command writes; empty where it is not there, fails, or takes too long. */
    static Optional<String> answer(String... command) {
        try {
            Process process = new ProcessBuilder(List.of(command))
                    .redirectErrorStream(false)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            byte[] bytes = process.getInputStream().readNBytes(MAX_BYTES);
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return Optional.empty();
            }
            String text = new String(bytes, StandardCharsets.UTF_8).strip();
            return process.exitValue() == 0 && !text.isEmpty() ? Optional.of(text) : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
