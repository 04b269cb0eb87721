package roselle.bench.environment;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The energy of NVIDIA's cards: their driver's tool tells the power of each every 50 ms, and the sum over the cards is
 * integrated over time.
 */
final class NvidiaEnergy implements EnergyMeter {
    private static final String[] COMMAND = {
        "nvidia-smi", "--query-gpu=index,power.draw", "--format=csv,noheader,nounits", "-lms", "50"
    };

    /** The meter, where the tool is there and tells a power. */
    static Optional<EnergyMeter> find() {
        return Shell.answer("nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits")
                .filter(text -> text.lines().allMatch(line -> PowerIntegral.isNumber(line.strip())))
                .map(_ -> new NvidiaEnergy());
    }

    @Override
    public Span begin() {
        try {
            Process process = new ProcessBuilder(COMMAND)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            var integral = new PowerIntegral();
            Thread reader = Thread.ofPlatform().daemon().name("energy").start(() -> read(process, integral));
            return () -> end(process, reader, integral);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void read(Process process, PowerIntegral integral) {
        try (var lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                integral.add(line, System.nanoTime());
            }
        } catch (IOException _) {
            // the tool was ended
        }
    }

    private static Energy end(Process process, Thread reader, PowerIntegral integral) {
        process.destroy();
        try {
            reader.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return new Energy("nvidia-smi power.draw every 50 ms, all cards", integral.joules());
    }
}
