package roselle.server.gateway;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import roselle.server.config.GatewayOptions;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.transport.PeerGoneException;
import roselle.server.upstream.AnswerHead;
import roselle.server.upstream.Upstream;
import roselle.server.upstream.UpstreamRequest;
import roselle.server.upstream.Upstreams;

/** Has a member answer a request, or, where it fails before its first byte or is full, another one. */
final class Forwarder {
    /** Headers of a connection, not of what goes over it (RFC 9110, section 7.6.1), and those that are made anew. */
    private static final Set<String> OWN = Set.of(
            "connection",
            "keep-alive",
            "proxy-connection",
            "proxy-authenticate",
            "proxy-authorization",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "http2-settings",
            "host",
            "content-length",
            "expect",
            "date");

    private static final String SESSION = "x-session-id";
    private static final int LONGEST_SESSION = 256;
    private static final int FULL = 503;
    private static final int SMALL = 64 << 10;
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Members members;
    private final Upstreams upstreams;
    private final GatewayOptions options;
    private final GatewayMeters meters;

    Forwarder(Members members, Upstreams upstreams, GatewayOptions options, GatewayMeters meters) {
        this.members = members;
        this.upstreams = upstreams;
        this.options = options;
        this.meters = meters;
    }

    /** What one request is about: what is sent, and who waits for it. */
    private final class Passage {
        final Exchange exchange;
        final UpstreamRequest request;
        final Prompt prompt;
        final String session;
        final long began = System.nanoTime();
        final Set<Member> tried = new HashSet<>();
        private final AtomicReference<@Nullable Upstream> underWay = new AtomicReference<>();
        private volatile boolean isGone;

        Passage(Exchange exchange) throws IOException {
            this.exchange = exchange;
            byte[] body = exchange.body();
            request = new UpstreamRequest(
                    exchange.method(), exchange.target(), passedOn(exchange.requestHeaders()), body);
            prompt = Prompt.of(body);
            session = exchange.requestHeader(SESSION)
                    .filter(text -> text.length() <= LONGEST_SESSION)
                    .orElse("");
            exchange.whenGone(this::leave);
        }

        private void leave() {
            isGone = true;
            Upstream upstream = underWay.get();
            if (upstream != null) {
                upstream.abort();
            }
        }

        Upstream begin(Member member) {
            Upstream upstream = upstreams.begin(member.address(), request);
            underWay.set(upstream);
            if (isGone) {
                upstream.abort();
            }
            return upstream;
        }

        void requirePeer() throws IOException {
            if (isGone) {
                throw new PeerGoneException(null);
            }
        }
    }

    private static List<Map.Entry<String, String>> passedOn(List<Map.Entry<String, String>> headers) {
        return headers.stream()
                .filter(header -> !OWN.contains(header.getKey().toLowerCase(Locale.ROOT)))
                .toList();
    }

    /** Answers a request with what a member says. */
    void forward(Exchange exchange) throws IOException {
        var passage = new Passage(exchange);
        boolean wasFull = false;
        for (int attempt = 0; attempt <= options.retries(); attempt++) {
            Optional<Members.Sent> sent = members.choose(passage.prompt, passage.session, passage.tried);
            if (sent.isEmpty()) {
                break;
            }
            try (var chosen = sent.orElseThrow()) {
                meters.sent(chosen, passage.prompt, System.nanoTime() - passage.began);
                passage.tried.add(chosen.member());
                if (isAnswered(passage, chosen)) {
                    return;
                }
                wasFull |= chosen.member().isReady();
            }
        }
        throw nobody(wasFull);
    }

    private ApiException nobody(boolean wasFull) {
        String code = wasFull ? "overloaded" : "not_ready";
        meters.refused(code);
        return wasFull
                ? ApiException.busy(ErrorKind.OVERLOADED, "every member that was asked is full: try again later", SOON)
                : ApiException.busy(ErrorKind.NOT_READY, "no member is ready: try again later", SOON);
    }

    /** Whether a member has answered; it has not where another one may be asked. */
    private boolean isAnswered(Passage passage, Members.Sent sent) throws IOException {
        Member member = sent.member();
        try (Upstream upstream = passage.begin(member)) {
            AnswerHead head;
            byte[] first;
            try {
                head = upstream.awaitHead(options.answer());
                first = isSmall(head) ? whole(upstream, (int) head.announced()) : next(upstream);
            } catch (IOException failure) {
                passage.requirePeer();
                meters.failed(member, "failed");
                member.lost(String.valueOf(failure.getMessage()));
                return false;
            }
            if (head.status() == FULL) {
                meters.failed(member, "full");
                return false;
            }
            meters.begun(System.nanoTime() - passage.began);
            sent.begun();
            meters.answered(member, head.status());
            pass(passage, head, first, upstream, member);
            return true;
        }
    }

    /** Whether an answer is waited for as a whole, so that its client sees all of it or another member's. */
    private static boolean isSmall(AnswerHead head) {
        return head.announced() >= 0 && head.announced() <= SMALL;
    }

    private void pass(Passage passage, AnswerHead head, byte[] first, Upstream upstream, Member member)
            throws IOException {
        Exchange exchange = passage.exchange;
        for (var header : passedOn(head.headers())) {
            exchange.header(header.getKey(), header.getValue());
        }
        if (isSmall(head) || exchange.method().equals("HEAD") || head.status() == 204) {
            exchange.sendWhole(head.status(), first);
            return;
        }
        exchange.beginRelay(head.status());
        try {
            for (byte[] piece = first; piece.length > 0; piece = next(upstream)) {
                exchange.relay(piece);
            }
            exchange.endRelay();
        } catch (PeerGoneException gone) {
            throw gone;
        } catch (IOException failure) {
            passage.requirePeer();
            breakOff(exchange, head, member, failure);
        }
    }

    private byte[] next(Upstream upstream) throws IOException {
        return upstream.read(options.answer());
    }

    private byte[] whole(Upstream upstream, int length) throws IOException {
        var all = new byte[length]; // a head's answer announces what does not come
        int at = 0;
        for (byte[] piece = next(upstream); piece.length > 0; piece = next(upstream)) {
            System.arraycopy(piece, 0, all, at, Math.min(piece.length, length - at));
            at += piece.length;
        }
        return all;
    }

    /** Ends an answer that had begun: a stream of events by one that says so, any other by the end of the connection. */
    private void breakOff(Exchange exchange, AnswerHead head, Member member, Exception failure) throws IOException {
        meters.failed(member, "broken");
        boolean isStream = head.header("content-type")
                .filter(type -> type.startsWith("text/event-stream"))
                .isPresent();
        if (!isStream) {
            throw new PeerGoneException(failure);
        }
        var error = new ApiException(ErrorKind.ENGINE_UNAVAILABLE, "the server that was answering has gone: ask again");
        byte[] body = exchange.conventions().error(error, exchange.id()).body().toBytes();
        exchange.relay(("data: " + new String(body, StandardCharsets.UTF_8) + "\n\n").getBytes(StandardCharsets.UTF_8));
        exchange.endRelay();
    }
}
