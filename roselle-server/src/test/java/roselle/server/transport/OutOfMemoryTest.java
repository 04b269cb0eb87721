package roselle.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpObject;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.internal.ThreadExecutorMap;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import roselle.server.config.LimitOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.TimeLimits;

/** Threads of the transport that run out of memory go on, or are told of. */
final class OutOfMemoryTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final LimitOptions LIMITS =
            LimitOptions.DEFAULT.with(new TimeLimits(Duration.ofSeconds(100), SECOND, SECOND, SECOND));

    private static final String POST = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc";
    private static final String GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    private static Transport start(CallHandler handler) {
        return Transport.start(
                new ListenOptions("127.0.0.1", 0), LIMITS, handler, _ -> new Refusals.Text("text/plain", ""));
    }

    private static void readAll(Call call) throws IOException {
        while (call.read().length > 0) {}
    }

    @Test
    void aRequestWithoutMemoryEndsItsOwnConnectionAlone() throws IOException {
        var fails = new AtomicBoolean(true);
        try (var transport = start(call -> {
                    if (fails.getAndSet(false)) {
                        throw new OutOfMemoryError("planted");
                    }
                    call.answer(200, new byte[0]);
                });
                var first = RawConnection.plain(transport.port());
                var second = RawConnection.plain(transport.port())) {
            assertThat(first.send(GET).rest()).isEmpty();
            assertThat(second.send(GET).status()).isEqualTo(200);
            assertThat(transport.awaitAnswered(Duration.ofMinutes(2))).isTrue();
            assertThat(transport.complaint()).isEmpty();
        }
    }

    /** On either loop: there are as many connections as it takes to meet each of them several times. */
    @Test
    void aThreadThatKeepsDeadlinesGoesOnKeepingThem() throws IOException {
        try (var transport = start(call -> {
            call.whenGone(() -> {
                throw new OutOfMemoryError("planted");
            });
            readAll(call);
        })) {
            for (int round = 0; round < 2; round++) {
                List<RawConnection> peers = new ArrayList<>();
                for (int peer = 0; peer < 6; peer++) {
                    peers.add(RawConnection.plain(transport.port()).send(POST));
                }
                for (RawConnection peer : peers) {
                    assertThat(peer.rest()).isEmpty();
                }
            }
            assertThat(transport.complaint()).isEmpty();
        }
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // its end is waited for otherwise
    void aThreadThatHasEndedIsComplainedOf() throws IOException {
        var begun = new AtomicBoolean();
        try (var transport = start(call -> {
            call.whenGone(
                    () -> assertThat(ThreadExecutorMap.currentExecutor().shutdownGracefully(0, 0, TimeUnit.SECONDS))
                            .isNotNull());
            begun.set(true);
            readAll(call);
        })) {
            assertThat(transport.isListening()).isTrue();
            var peer = RawConnection.plain(transport.port());
            peer.send(POST);
            TestTransport.await(begun::get);

            peer.reset();

            TestTransport.await(() -> !transport.isListening());
            assertThat(transport.complaint())
                    .hasValueSatisfying(why -> assertThat(why).contains("no longer listens"));
        }
    }

    @Test
    void aThreadThatIsStuckIsComplainedOfUntilItGoesOn() throws IOException {
        var begun = new AtomicBoolean();
        var release = new CountDownLatch(1);
        try (var transport = start(call -> {
                    call.whenGone(() -> awaitUninterruptibly(release));
                    begun.set(true);
                    readAll(call);
                });
                var peer = RawConnection.plain(transport.port()).send(POST)) {
            TestTransport.await(begun::get);
            assertThat(transport.complaint()).isEmpty();
            peer.reset();

            TestTransport.await(() -> transport.complaint(SECOND).isPresent());
            assertThat(transport.complaint(SECOND))
                    .hasValueSatisfying(why -> assertThat(why).contains("has done nothing for"));

            release.countDown();
            TestTransport.await(() -> transport.complaint(SECOND).isEmpty());
        } finally {
            release.countDown();
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
    }

    /** What its thread could not hand over is found when the loop looks at deadlines. */
    @Test
    void aCallWhoseEndWasNotHeardOfIsOverAllTheSame() {
        var inner = new ChannelInboundHandlerAdapter();
        var channel = new EmbeddedChannel(inner);
        var owner = new Owner();
        var fails = new AtomicBoolean(true);
        var call = new Call(HEAD, failing(channel.pipeline().context(inner), fails), owner, LIMITS.times());
        call.complete();
        var starter = new CallStarter(each -> {}, _ -> new Refusals.Text("text/plain", ""), 1 << 14);

        starter.start(call);
        TestTransport.await(() -> starter.underWay() == 0 && !fails.get());

        TestTransport.await(
                () -> call.isOverdue(System.nanoTime() + SECOND.multipliedBy(2).toNanos()));
        assertThat(call.isOverdue(System.nanoTime())).isFalse();
        call.expire();
        assertThat(owner.brokenOff).isEqualTo(1);
        assertThat(owner.finished).isEqualTo(1);
        call.expire();
        assertThat(owner.finished).isEqualTo(1);
    }

    private static final RequestHead HEAD = RequestHead.ofHttp1(
            new io.netty.handler.codec.http.DefaultHttpRequest(
                    io.netty.handler.codec.http.HttpVersion.HTTP_1_1,
                    io.netty.handler.codec.http.HttpMethod.GET,
                    "/",
                    new io.netty.handler.codec.http.DefaultHttpHeaders().set("host", "localhost")),
            1 << 14);

    private static final class Owner implements Call.Owner {
        private int brokenOff;
        private int finished;

        @Override
        public boolean isSecure() {
            return false;
        }

        @Override
        public java.net.SocketAddress peer() {
            return new java.net.InetSocketAddress(1);
        }

        @Override
        public boolean isHttp1() {
            return true;
        }

        @Override
        public boolean isLast(Call call) {
            return false;
        }

        @Override
        public void hold(HttpObject part) {
            throw new AssertionError("nothing is answered");
        }

        @Override
        public ChannelFuture write(HttpObject part) {
            throw new AssertionError("nothing is answered");
        }

        @Override
        public void finished(Call call) {
            finished++;
        }

        @Override
        public void breakOff() {
            brokenOff++;
        }
    }

    /** A context whose executor has no memory for the first task. */
    private static ChannelHandlerContext failing(ChannelHandlerContext context, AtomicBoolean fails) {
        var executor = proxy(EventExecutor.class, context.executor(), "execute", () -> {
            if (fails.getAndSet(false)) {
                throw new OutOfMemoryError("planted");
            }
            return null;
        });
        return proxy(ChannelHandlerContext.class, context, "executor", () -> executor);
    }

    private static <T> T proxy(Class<T> type, T real, String replaced, java.util.function.Supplier<Object> by) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (_, method, arguments) -> {
                    if (method.getName().equals(replaced)) {
                        return by.get();
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                }));
    }
}
