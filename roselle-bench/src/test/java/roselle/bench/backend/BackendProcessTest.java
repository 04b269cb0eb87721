package roselle.bench.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.bench.stub.Script;
import roselle.bench.stub.Stall;
import roselle.bench.stub.StubServer;

final class BackendProcessTest {
    @TempDir
    private Path folder;

    @Test
    void endsChildrenThatLeftTheTreeAndThoseThatIgnoreTheirEnd() throws IOException, InterruptedException {
        Path pids = folder.resolve("pids");
        String script =
                "(setsid sh -c 'echo $$ >> \"$0\"; sleep 300' \"$0\" &) ; (trap '' TERM; echo $BASHPID >> \"$0\"; sleep 301) & "
                        + "while [ $(cat \"$0\" | wc -l) -lt 2 ]; do sleep 0.05; done; echo $$ >> \"$0\"; wait";
        try (var ready = StubServer.start(0, Script.constant(1, 1), Stall.NONE)) {
            var backend = BackendProcess.start(
                    launch(ready.uri().resolve("/v1/models"), "bash", "-c", script, pids.toString()));
            while (!Files.exists(pids) || Files.readAllLines(pids).size() < 3) {
                backend.demandAlive();
                LockSupport.parkNanos(1_000_000);
            }
            List<Long> started =
                    Files.readAllLines(pids).stream().map(Long::parseLong).toList();
            assertThat(started).allMatch(BackendProcessTest::isRunning);

            backend.close();

            assertThat(started).noneMatch(BackendProcessTest::isRunning);
        }
    }

    /** A program that measures and is told to end must not leave engines behind. */
    @Test
    void endsWithTheProgramThatStartedIt() throws IOException, InterruptedException {
        Path pid = folder.resolve("pid");
        try (var ready = StubServer.start(0, Script.constant(1, 1), Stall.NONE)) {
            Process program = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Starter.class.getName(),
                            ready.uri().resolve("/v1/models").toString(),
                            pid.toString(),
                            folder.resolve("log").toString())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("program.log").toFile())
                    .start();
            while (!Files.exists(pid) || Files.readString(pid).isBlank()) {
                assertThat(program.isAlive())
                        .as(Files.readString(folder.resolve("program.log")))
                        .isTrue();
                LockSupport.parkNanos(1_000_000);
            }
            long engine = Long.parseLong(Files.readString(pid).strip());
            assertThat(isRunning(engine)).isTrue();

            program.destroy();
            program.waitFor();

            assertThat(isRunning(engine)).isFalse();
        }
    }

    /** A program that starts an engine, says which process that is, and waits. */
    static final class Starter {
        public static void main(String[] arguments) throws IOException, InterruptedException {
            var launch = new Launch(
                    List.of("sleep", "300"),
                    Map.of(),
                    URI.create(arguments[0]),
                    Duration.ofMinutes(2),
                    Path.of(arguments[2]));
            try (var backend = BackendProcess.start(launch)) {
                Files.writeString(Path.of(arguments[1]), backend.pid() + "\n");
                Thread.sleep(Duration.ofMinutes(5));
            }
        }
    }

    @Test
    void tellsOfAnEngineThatEndedWhileItWasMeasured() throws IOException, InterruptedException {
        try (var ready = StubServer.start(0, Script.constant(1, 1), Stall.NONE);
                var backend = BackendProcess.start(launch(
                        ready.uri().resolve("/v1/models"),
                        "sh",
                        "-c",
                        "read x < \"$0\"; echo out of memory; exit 9",
                        fifo().toString()))) {
            backend.demandAlive();
            Files.writeString(folder.resolve("fifo"), "end\n");
            long giveUp = System.nanoTime() + Duration.ofMinutes(2).toNanos();
            while (!hasEnded(backend) && System.nanoTime() < giveUp) { // its handle may tell of the end before it does
                LockSupport.parkNanos(1_000_000);
            }

            assertThatThrownBy(backend::demandAlive)
                    .isInstanceOf(BackendException.class)
                    .hasMessage("it ended with status 9 while it was measured: out of memory");
        }
    }

    private static boolean hasEnded(BackendProcess backend) {
        try {
            backend.demandAlive();
            return false;
        } catch (BackendException ended) {
            return true;
        }
    }

    private Path fifo() throws IOException, InterruptedException {
        Path fifo = folder.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        return fifo;
    }

    /** What has ended and was not yet asked for its status is no longer running: not every system's first process asks. */
    private static boolean isRunning(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false) && !isZombie(pid);
    }

    private static boolean isZombie(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return stat.substring(stat.lastIndexOf(')') + 2).startsWith("Z");
        } catch (IOException gone) {
            return false;
        }
    }

    @Test
    void tellsTheLastWordsOfAnEngineThatEndsTooSoon() {
        assertThatThrownBy(() -> BackendProcess.start(
                        launch(URI.create("http://127.0.0.1:9/"), "sh", "-c", "echo no such model; exit 3")))
                .isInstanceOf(BackendException.class)
                .hasMessage("it ended with status 3 before it was ready: no such model");
    }

    @Test
    void tellsACommandThatIsNotThere() {
        assertThatThrownBy(() -> BackendProcess.start(launch(URI.create("http://127.0.0.1:9/"), "/not/there")))
                .isInstanceOf(BackendException.class)
                .hasMessageContaining("/not/there");
    }

    @Test
    void givesUpOnAnEngineThatNeverBecomesReady() {
        var launch = new Launch(
                List.of("sleep", "300"),
                Map.of(),
                URI.create("http://127.0.0.1:9/"),
                Duration.ofSeconds(1),
                folder.resolve("log"));

        assertThatThrownBy(() -> BackendProcess.start(launch)).hasMessageContaining("it was not ready after 1 s");
    }

    private Launch launch(URI health, String... command) {
        return new Launch(List.of(command), Map.of(), health, Duration.ofMinutes(2), folder.resolve("log"));
    }
}
