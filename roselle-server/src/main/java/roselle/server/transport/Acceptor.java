package roselle.server.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/**
 * Takes connections as long as there is room, and goes on when there is some again.
 *
 * <p>Those that are not taken wait in the system. It also goes on after the system refused one, for lack of descriptors or of
 * memory that something else in the process has: a listener that stops for good is worse than one that tries in vain.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class Acceptor extends ChannelInboundHandlerAdapter {
    private static final System.Logger LOG = System.getLogger(Acceptor.class.getName());
    private static final long PAUSE_MILLIS = 200;
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final int most;
    private int open;
    private boolean isPausing;
    private long nextWord = System.nanoTime();

    Acceptor(int most) {
        this.most = most;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        open++;
        resume(context);
        ((Channel) message)
                .closeFuture()
                .addListener(_ -> context.executor().execute(() -> {
                    open--;
                    resume(context);
                }));
        context.fireChannelRead(message);
    }

    private void resume(ChannelHandlerContext context) {
        if (context.channel().isOpen()) {
            context.channel().config().setAutoRead(open < most && !isPausing);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        isPausing = true;
        resume(context);
        context.executor()
                .schedule(
                        () -> {
                            isPausing = false;
                            resume(context);
                        },
                        PAUSE_MILLIS,
                        TimeUnit.MILLISECONDS);
        if (System.nanoTime() - nextWord >= 0) {
            nextWord = System.nanoTime() + QUIET_NANOS;
            LOG.log(System.Logger.Level.WARNING, "event=cannot_accept open={0} cause={1}", open, cause);
        }
    }
}
