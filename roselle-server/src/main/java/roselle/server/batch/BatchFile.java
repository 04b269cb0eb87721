package roselle.server.batch;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.concurrent.Semaphore;
import roselle.api.InvalidRequestException;
import roselle.server.answer.Admission;
import roselle.server.batch.Batch.LineError;
import roselle.server.http.InnerRequests;

/**
 * Answers a file of requests into another one, without a server around it. Answers are kept beside the output as they come, under a
 * name that the model and the input's bytes make, so that the same call after a failure answers only what is missing.
 */
public final class BatchFile {
    private static final Duration FOREVER = Duration.ofDays(3650);

    private final InnerRequests requests;
    private final int longest;
    private final Path input;
    private final Path output;

    /** Hears now and then how many requests were answered, and how many failed. */
    public interface Progress {
        void told(int total, int succeeded, int failed);
    }

    /** Requests of at most {@code longest} bytes each. */
    public BatchFile(InnerRequests requests, int longest, Path input, Path output) {
        this.requests = requests;
        this.longest = longest;
        this.input = input;
        this.output = output;
    }

    /**
     * Answers what has no answer yet, and writes all answers in the order of the input.
     *
     * @param atATime requests that are answered at a time
     * @throws InvalidRequestException if the output is there, or a line is no request, naming it
     */
    public void run(String model, int atATime, Duration pause, Progress progress)
            throws IOException, InterruptedException {
        if (Files.exists(output)) {
            throw new InvalidRequestException(output.getFileName() + " is there: remove it, or name another output");
        }
        int total = checked();
        Path kept = output.resolveSibling(output.getFileName() + "." + identity(model) + ".part");
        try (var log = ResultLog.open(kept)) {
            var places = new Semaphore(atATime);
            var lines = new LineAnswerer(requests, places, InstantSource.system(), log, new Admission.Ticket() {});
            Thread teller = Thread.ofVirtual().start(() -> tell(total, log, pause, progress));
            try {
                lines.run(input, longest, InstantSource.system().instant().plus(FOREVER));
            } finally {
                teller.interrupt();
                teller.join();
            }
            progress.told(total, log.succeeded(), log.failed());
            Path next = output.resolveSibling(output.getFileName() + ".next");
            log.write(next, true, true);
            BatchStore.forceFile(next);
            Files.move(next, output, StandardCopyOption.ATOMIC_MOVE);
        }
        Files.delete(kept);
    }

    private int checked() throws IOException {
        var check = InputCheck.of(input, "", longest);
        if (!check.errors().isEmpty()) {
            LineError first = check.errors().getFirst();
            String where = first.line() == 0 ? "" : " line " + first.line() + ":";
            throw new InvalidRequestException(input.getFileName() + where + " " + first.message());
        }
        return check.lines();
    }

    private String identity(String model) throws IOException {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            digest.update(BatchStore.utf8(model + "\n"));
            try (var out = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
                Files.copy(input, out);
            }
            return HexFormat.of().formatHex(digest.digest(), 0, 6);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void tell(int total, ResultLog log, Duration pause, Progress progress) {
        try {
            while (true) {
                Thread.sleep(pause);
                progress.told(total, log.succeeded(), log.failed());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // all have been answered
        }
    }
}
