package roselle.server.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import roselle.server.config.GatewayOptions;
import roselle.server.upstream.AnswerHead;
import roselle.server.upstream.UpstreamRequest;
import roselle.server.upstream.Upstreams;

/** Looks at the members again and again, each on a thread of its own: whether they are ready, and what they have to do. */
final class MemberWatch implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(MemberWatch.class.getName());
    private static final int MOST_BYTES = 4 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** Looks in a row that a ready member may leave without an answer. */
    private static final int MOST_SILENCES = 3;

    private final Members members;
    private final Upstreams upstreams;
    private final GatewayOptions options;
    private final List<Map.Entry<String, String>> keyed;
    private final CountDownLatch end = new CountDownLatch(1);
    private List<Thread> watches = List.of();

    MemberWatch(Members members, Upstreams upstreams, GatewayOptions options) {
        this.members = members;
        this.upstreams = upstreams;
        this.options = options;
        keyed = options.memberKey()
                .map(key -> List.of(Map.entry("authorization", "Bearer " + key)))
                .orElse(List.of());
    }

    /** Begins; every member has been looked at once when this returns, or has taken too long. */
    void start() {
        var looks = members.all().stream()
                .map(member -> Thread.ofVirtual().name("roselle-look").start(() -> look(member)))
                .toList();
        join(looks);
        watches = members.all().stream()
                .map(member -> Thread.ofVirtual().name("roselle-watch").start(() -> watch(member)))
                .toList();
    }

    private static void join(List<Thread> threads) {
        try {
            for (Thread thread : threads) {
                thread.join(PATIENCE);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch(Member member) {
        try {
            while (!end.await(options.probe().toNanos(), TimeUnit.NANOSECONDS)) {
                look(member);
                upstreams.sweep();
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void look(Member member) {
        boolean wasReady = member.isReady();
        String before = member.complaint();
        try {
            member.resolve();
            Answer ready = get(member, "/ready", List.of());
            if (ready.status() == 200) {
                MemberLoad load = load(member);
                members.hold(member, load.cacheTokens());
                member.silences = 0;
                member.found(load);
            } else {
                lost(member, "/ready answers " + ready.status());
            }
        } catch (SocketTimeoutException silence) {
            if (++member.silences >= MOST_SILENCES || !wasReady) { // one with much to do is slow to say so
                lost(member, String.valueOf(silence.getMessage()));
            }
        } catch (IOException | RuntimeException failure) {
            lost(member, String.valueOf(failure.getMessage()));
        }
        if (member.isReady() != wasReady || !member.complaint().equals(before)) {
            tell(member);
        }
    }

    private void lost(Member member, String why) {
        member.lost(why);
        members.forget(member);
    }

    private void tell(Member member) {
        LOG.log(
                member.isReady() ? System.Logger.Level.INFO : System.Logger.Level.WARNING,
                "event=member_{0} member={1} reason=\"{2}\"",
                member.isReady() ? "ready" : "lost",
                member.name(),
                member.complaint());
    }

    /** What its metrics say; nothing where they are for others. */
    private MemberLoad load(Member member) throws IOException {
        Answer metrics = get(member, "/metrics", keyed);
        return metrics.status() == 200 ? MemberLoad.of(metrics.body()) : MemberLoad.NONE;
    }

    private record Answer(int status, String body) {}

    private Answer get(Member member, String path, List<Map.Entry<String, String>> headers) throws IOException {
        try (var upstream = upstreams.begin(member.address(), UpstreamRequest.get(path, headers))) {
            AnswerHead head = upstream.awaitHead(PATIENCE);
            var body = new ByteArrayOutputStream();
            for (byte[] piece = upstream.read(PATIENCE); piece.length > 0; piece = upstream.read(PATIENCE)) {
                if (body.size() + piece.length > MOST_BYTES) {
                    throw new IOException(path + " answers more than " + MOST_BYTES + " bytes");
                }
                body.writeBytes(piece);
            }
            return new Answer(head.status(), body.toString(StandardCharsets.UTF_8));
        }
    }

    /** Ends when the looks under way have. */
    @Override
    public void close() {
        end.countDown();
        join(watches);
    }
}
