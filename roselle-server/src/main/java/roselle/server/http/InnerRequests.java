package roselle.server.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import roselle.server.transport.Link;
import roselle.server.transport.RequestHead;

/** Answers requests that come from within the process by what answers the same paths over HTTP, with the same bytes. */
public final class InnerRequests {
    private final Routes routes;
    private final long bodyBytes;
    private final BodyRoom room;

    /** Requests of at most so many bytes each. */
    public InnerRequests(Routes routes, long bodyBytes) {
        this.routes = routes;
        this.bodyBytes = bodyBytes;
        room = BodyRoom.of(bodyBytes, Runtime.getRuntime().maxMemory(), Turns::atOnce);
    }

    /**
     * What was answered.
     *
     * @param mayTryAgain whether there was no room, or no engine, for the moment
     * @param isGone whether the request was broken off, so that this is no answer
     */
    public record Answered(int status, String requestId, String body, boolean mayTryAgain, boolean isGone) {}

    /** A request that any thread may break off. */
    public Request request(String path, byte[] body, String owner) {
        return new Request(path, body, owner);
    }

    /** One request and its answer. */
    public final class Request implements Link {
        private final RequestHead head;
        private final String owner;
        private final ByteArrayOutputStream answer = new ByteArrayOutputStream();
        private final List<Runnable> whenGone = new ArrayList<>();
        private byte[] body;
        private int status;
        private boolean mayTryAgain;
        private boolean isGone;

        private Request(String path, byte[] body, String owner) {
            this.body = body;
            this.owner = owner;
            head = RequestHead.within("POST", path, body.length);
        }

        /** Answers on this thread; {@code notes} are what interceptors would have found out. */
        public Answered answer(Map<String, Object> notes) {
            try (var share = room.share(owner)) {
                var exchange = new Exchange(this, new RequestBody(this, bodyBytes, share), routes.find(head));
                notes.forEach(exchange::note);
                exchange.whenRead(Request::refuseStream);
                HttpListener.answer(Routes::dispatch, exchange);
                return new Answered(
                        status, exchange.id(), answer.toString(StandardCharsets.UTF_8), mayTryAgain, isGone());
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }

        private static void refuseStream(JsonFields fields) {
            if (fields.has("stream") && fields.bool("stream", false)) {
                throw ApiException.invalid("stream", "stream is true: nobody reads it, so leave it out");
            }
        }

        /** Breaks it off: what it has in the engine is cancelled. */
        public void leave() {
            List<Runnable> due;
            synchronized (this) {
                isGone = true;
                due = List.copyOf(whenGone);
                whenGone.clear();
            }
            due.forEach(Runnable::run);
        }

        private synchronized boolean isGone() {
            return isGone;
        }

        @Override
        public void whenGone(Runnable action) {
            synchronized (this) {
                if (!isGone) {
                    whenGone.add(action);
                    return;
                }
            }
            action.run();
        }

        @Override
        public synchronized void unwatch(Runnable action) {
            whenGone.remove(action);
        }

        @Override
        public RequestHead head() {
            return head;
        }

        @Override
        public SocketAddress peer() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        }

        @Override
        public boolean isSecure() {
            return false;
        }

        @Override
        public byte[] read() {
            byte[] all = body;
            body = new byte[0];
            return all;
        }

        @Override
        public void expectPiece(boolean isDue) {} // all of it is there

        @Override
        public void expectNothing() {}

        @Override
        public void header(String name, String value) {
            mayTryAgain |= name.equals("retry-after");
        }

        @Override
        public void answer(int code, byte[] content) {
            begin(code);
            write(content, content.length);
        }

        @Override
        public void begin(int code) {
            status = code;
            mayTryAgain |= code == ErrorKind.ENGINE_UNAVAILABLE.status();
        }

        @Override
        public void write(byte[] bytes, int length) {
            answer.write(bytes, 0, length);
        }

        @Override
        public void end() {}

        @Override
        public void end(Map<String, String> trailers) {
            throw new UnsupportedOperationException("nobody reads fields behind a body here");
        }
    }
}
