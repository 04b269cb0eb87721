package roselle.server.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UpstreamTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Upstreams owner = new Upstreams(PATIENCE);
    private final Upstream upstream =
            owner.begin(InetSocketAddress.createUnresolved("localhost", 1), UpstreamRequest.get("/", List.of()));

    @AfterEach
    void close() {
        owner.close();
    }

    private boolean offer(int kilobytes) {
        return upstream.offer(Unpooled.wrappedBuffer(new byte[kilobytes << 10]));
    }

    @Test
    void takesWhatComesUntilTooMuchWaits() throws IOException {
        assertThat(offer(60)).isTrue();
        assertThat(offer(60)).isTrue();
        assertThat(offer(60)).isFalse();

        upstream.read(PATIENCE);
        upstream.read(PATIENCE);

        assertThat(offer(1)).isTrue();
    }

    /** It comes of what was read before the connection paused; who believed it would never be told to go on. */
    @Test
    void aPieceThatComesAfterThePauseDoesNotEndIt() throws IOException {
        offer(60);
        offer(60);
        assertThat(offer(60)).isFalse();
        upstream.read(PATIENCE); // too little to go on

        assertThat(offer(1)).isFalse();
    }
}
