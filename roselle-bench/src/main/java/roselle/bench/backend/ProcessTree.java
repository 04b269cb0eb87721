package roselle.bench.backend;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A process and all that it started, found by descent and, where the system shows environments, by a mark. */
final class ProcessTree {
    /** The mark's variable in the environment. */
    static final String VARIABLE = "ROSELLE_BENCH_BACKEND";

    private static final Duration LAST_WAIT = Duration.ofSeconds(5);

    private final ProcessHandle root;
    private final byte[] mark;

    ProcessTree(ProcessHandle root, String mark) {
        this.root = root;
        this.mark = (VARIABLE + "=" + mark).getBytes(StandardCharsets.US_ASCII);
    }

    static String newMark() {
        return UUID.randomUUID().toString();
    }

    /** Every process of it that runs. */
    Set<ProcessHandle> running() {
        Set<ProcessHandle> found = new HashSet<>();
        found.add(root);
        root.descendants().forEach(found::add);
        ProcessHandle.allProcesses().filter(this::isMarked).forEach(found::add);
        found.removeIf(process -> !process.isAlive());
        return found;
    }

    /** The processor time of every process of it that runs. */
    long processorNanos() {
        return running().stream()
                .mapToLong(process ->
                        process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L))
                .sum();
    }

    /** Only Linux shows it; a process of another user cannot be ours. */
    private boolean isMarked(ProcessHandle process) {
        try {
            byte[] environment = Files.readAllBytes(Path.of("/proc", Long.toString(process.pid()), "environ"));
            return contains(environment, mark);
        } catch (IOException _) {
            return false; // it has ended, or is not ours
        }
    }

    private static boolean contains(byte[] all, byte[] part) {
        for (int i = 0; i + part.length <= all.length; i++) {
            if (java.util.Arrays.equals(all, i, i + part.length, part, 0, part.length)) {
                return true;
            }
        }
        return false;
    }

    /** Asks the root to end, then all that is left, then ends what does not. */
    void end(Duration grace) {
        Set<ProcessHandle> known = running();
        root.destroy();
        await(Set.of(root), grace);
        known.addAll(running());
        known.forEach(ProcessHandle::destroy);
        await(known, LAST_WAIT);
        known.addAll(running());
        known.forEach(ProcessHandle::destroyForcibly);
        await(known, LAST_WAIT);
    }

    private static void await(Set<ProcessHandle> processes, Duration limit) {
        var all = CompletableFuture.allOf(
                processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new));
        try {
            all.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException _) {
            // the next step is harsher
        } catch (ExecutionException failure) {
            throw new IllegalStateException(failure);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
