package roselle.server.http;

import io.helidon.common.socket.SocketOptions;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Options of sockets, which are set on each as it is accepted: the one moment when the web server below shows it. */
record ArrivalOptions(SocketOptions inner, Consumer<SocketChannel> arrival) implements SocketOptions {
    @Override
    public void configureSocket(SocketChannel socket) {
        inner.configureSocket(socket);
        arrival.accept(socket);
    }

    @Override
    public Map<SocketOption<?>, Object> socketOptions() {
        return inner.socketOptions();
    }

    @Override
    public Duration connectTimeout() {
        return inner.connectTimeout();
    }

    @Override
    public Duration readTimeout() {
        return inner.readTimeout();
    }

    @Override
    public Optional<Integer> socketReceiveBufferSize() {
        return inner.socketReceiveBufferSize();
    }

    @Override
    public Optional<Integer> socketSendBufferSize() {
        return inner.socketSendBufferSize();
    }

    @Override
    public boolean socketReuseAddress() {
        return inner.socketReuseAddress();
    }

    @Override
    public boolean socketKeepAlive() {
        return inner.socketKeepAlive();
    }

    @Override
    public boolean tcpNoDelay() {
        return inner.tcpNoDelay();
    }
}
