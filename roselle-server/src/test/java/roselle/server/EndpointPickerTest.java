package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Conversations over four servers behind llm-d's endpoint picker: how much of their prompts is found, and what a server costs that is
 * killed. By hand, since the picker gives each step of its own some tenths of a second and then goes without, which a busy machine
 * takes away.
 */
@Tag("manual")
final class EndpointPickerTest {
    private static TraceServers servers;

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void start() throws Exception {
        EndpointPicker.requireProgram();
        servers = new TraceServers();
    }

    @AfterAll
    static void stop() {
        if (servers != null) {
            servers.close();
        }
    }

    @Test
    void findsNearlyWhatARouterThatKnowsAllWouldFind() throws Exception {
        try (var picker = new EndpointPicker(folder, servers.trace, servers.uris(), servers.ports)) {
            servers.requireNearlyAll(servers.run("llm-d's endpoint picker", picker::ask));
        }
    }

    @Test
    void aServerThatIsKilledCostsNothingThatCanBeAskedAgain() throws Exception {
        var mortal = TraceServer.Apart.start(TraceServers.FIFTH, servers.ports);
        List<URI> uris = Stream.concat(servers.uris().stream().limit(3), Stream.of(mortal.uri()))
                .toList();
        Thread end = Thread.ofVirtual().unstarted(() -> killAmidst(mortal.process()));
        try (var picker = new EndpointPicker(folder, servers.trace, uris, servers.ports)) {
            end.start();
            servers.run("the same, a server killed", picker::ask); // fails where a turn has no answer
            System.out.println("asked again " + picker.again() + ", broken off " + picker.brokenOff());

            assertThat(picker.again() + picker.brokenOff())
                    .as("it was asked when it was gone")
                    .isPositive();
            assertThat(picker.brokenOff()).isLessThanOrEqualTo(ConversationTrace.AT_A_TIME);
        } finally {
            mortal.process().destroyForcibly().waitFor();
            end.join();
        }
    }

    /** When a third of the turns have been asked. */
    private static void killAmidst(Process server) {
        int until = servers.trace.asked() + TraceServers.CONVERSATIONS * ConversationTrace.TURNS / 3;
        while (servers.trace.asked() < until && server.isAlive()) {
            LockSupport.parkNanos(1_000_000);
        }
        server.destroyForcibly();
    }
}
