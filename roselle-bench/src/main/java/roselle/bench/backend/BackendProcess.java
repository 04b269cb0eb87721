package roselle.bench.backend;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * An engine's process, from its start until nothing of it is left.
 *
 * <p>Each process that an engine starts inherits a mark in its environment. Stopping ends all of those, also the ones that
 * have left the tree because their parent ended before them.
 */
public final class BackendProcess implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration GRACE = Duration.ofSeconds(15);
    private static final Duration LAST_GRACE = Duration.ofSeconds(3); // where this program itself is told to end

    private final Launch launch;
    private final Process process;
    private final ProcessTree tree;
    private final Thread atOwnEnd;
    private final long started = System.nanoTime();
    private double readySeconds;

    private BackendProcess(Launch launch, Process process, ProcessTree tree) {
        this.launch = launch;
        this.process = process;
        this.tree = tree;
        atOwnEnd = new Thread(() -> tree.end(LAST_GRACE), "backend-end");
    }

    private static BackendProcess begin(Launch launch) {
        var mark = ProcessTree.newMark();
        var builder = new ProcessBuilder(launch.command()).redirectErrorStream(true);
        builder.environment().putAll(launch.environment());
        builder.environment().put(ProcessTree.VARIABLE, mark);
        builder.redirectOutput(launch.log().toFile());
        try {
            Process process = builder.start();
            var backend = new BackendProcess(launch, process, new ProcessTree(process.toHandle(), mark));
            Runtime.getRuntime().addShutdownHook(backend.atOwnEnd);
            return backend;
        } catch (IOException failure) {
            throw new BackendException("it could not be started: " + failure.getMessage(), failure);
        }
    }

    /** Runs a command that ends by itself, within a limit; another status than 0 is a failure. */
    public static void runToEnd(List<String> command, Map<String, String> environment, Duration limit, Path log)
            throws InterruptedException {
        var launch = new Launch(command, environment, URI.create("http://localhost"), limit, log);
        try (BackendProcess running = begin(launch)) {
            if (!running.process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new BackendException("it had not ended after " + limit.toSeconds() + " s: " + running.tail());
            }
            if (running.process.exitValue() != 0) {
                throw new BackendException(
                        "it ended with status " + running.process.exitValue() + ": " + running.tail());
            }
        }
    }

    /** Starts it and waits until it is ready. */
    public static BackendProcess start(Launch launch) throws InterruptedException {
        BackendProcess backend = begin(launch);
        try {
            backend.awaitReady();
            return backend;
        } catch (RuntimeException | InterruptedException failure) {
            backend.close();
            throw failure;
        }
    }

    /** From its start until it was ready. */
    public double readySeconds() {
        return readySeconds;
    }

    /** Complains if it has ended by itself. */
    public void demandAlive() {
        if (!process.isAlive()) {
            throw new BackendException(
                    "it ended with status " + process.exitValue() + " while it was measured: " + tail());
        }
    }

    /** The processor time that it and all that it started took so far, of those that still run. */
    public long processorNanos() {
        return tree.processorNanos();
    }

    public long pid() {
        return process.pid();
    }

    private void awaitReady() throws InterruptedException {
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(2))
                .build()) {
            while (!isReady(client)) {
                if (!process.isAlive()) {
                    throw new BackendException(
                            "it ended with status " + process.exitValue() + " before it was ready: " + tail());
                }
                if (seconds() > launch.timeout().toSeconds()) {
                    throw new BackendException("it was not ready after "
                            + launch.timeout().toSeconds() + " s (" + launch.health() + "): " + tail());
                }
                Thread.sleep(POLL);
            }
            readySeconds = seconds();
        }
    }

    private boolean isReady(HttpClient client) throws InterruptedException {
        try {
            var request = HttpRequest.newBuilder(launch.health())
                    .timeout(Duration.ofSeconds(5))
                    .build();
            return client.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException _) {
            return false; // not yet
        }
    }

    private double seconds() {
        return (System.nanoTime() - started) / 1e9;
    }

    /** What its output says of its end, for messages. */
    private String tail() {
        return FirstError.of(launch.log());
    }

    /** Ends it and everything it started. */
    @Override
    public void close() {
        tree.end(GRACE);
        try {
            Runtime.getRuntime().removeShutdownHook(atOwnEnd);
        } catch (IllegalStateException _) {
            // this program ends, and the hook runs
        }
    }
}
