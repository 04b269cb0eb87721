package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import roselle.api.DeviceException;
import roselle.api.InvalidRequestException;
import roselle.server.config.PageEventOptions;
import roselle.server.config.ServerConfig;

/** A subscriber as llm-d's endpoint picker is one. */
final class PageEventsTest {
    private static final String PROMPT =
            "{\"prompt\":\"" + "Once upon a time there was a fox. ".repeat(8) + "\",\"max_tokens\":1}";

    @TempDir
    private Path folder;

    @Test
    void toldOnceMoreToWhoAsks() {
        var options = new PageEventOptions("ipc://" + folder.resolve("e"), "ipc://" + folder.resolve("r"), "pod:8000");
        try (var demo = new DemoServer(ServerConfig.DEFAULT.with(options));
                var context = new ZContext();
                var asking = context.createSocket(SocketType.DEALER)) {
            asking.connect(options.replay());
            assertThat(demo.post("/v1/completions", PROMPT).statusCode()).isEqualTo(200);

            List<List<byte[]>> told = replay(asking, 0);
            while (told.isEmpty()) { // the pages are there; they are told soon
                told = replay(asking, 0);
            }

            List<byte[]> first = told.getFirst();
            assertThat(new String(first.get(0), StandardCharsets.UTF_8)).isEqualTo("kv@pod:8000@demo");
            assertThat(ByteBuffer.wrap(first.get(1)).getLong()).isZero();
            assertThat(new String(first.get(2), StandardCharsets.ISO_8859_1)).contains("BlockStored");
            assertThat(replay(asking, 1_000)).isEmpty();
        }
    }

    /** Batches from a number on, until the one that says that there are no more. */
    private static List<List<byte[]>> replay(ZMQ.Socket socket, long from) {
        socket.sendMore(new byte[0]);
        socket.send(ByteBuffer.allocate(Long.BYTES).putLong(from).array());
        List<List<byte[]>> batches = new ArrayList<>();
        while (true) {
            List<byte[]> frames = new ArrayList<>();
            do {
                frames.add(socket.recv());
            } while (socket.hasReceiveMore());
            assertThat(frames).hasSize(4);
            assertThat(frames.removeFirst()).isEmpty();
            if (ByteBuffer.wrap(frames.get(1)).getLong() == -1) {
                assertThat(frames.get(2)).isEmpty();
                return batches;
            }
            batches.add(frames);
        }
    }

    @Test
    void anEndpointThatCannotBeHadIsNamed() {
        var options = new PageEventOptions("tcp://256.0.0.1:1", "", "");

        assertThatThrownBy(() -> new DemoServer(ServerConfig.DEFAULT.with(options)))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("tcp://256.0.0.1:1");
        assertThatThrownBy(() -> new PageEventOptions("5557", "", ""))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("kv events is 5557: it must be an endpoint such as tcp://*:5557");
        assertThatThrownBy(() -> new PageEventOptions("", "tcp://*:5558", ""))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("kv events is not set");
    }
}
