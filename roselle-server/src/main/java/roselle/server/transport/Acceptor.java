package roselle.server.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;

/**
 * Takes connections as long as there is room, and goes on when there is some again.
 *
 * <p>Where there is none left, room is made at the cost of who has been idle longest, so that nobody can keep others out by holding
 * connections and saying nothing. Who finds none all the same waits in the system. It also goes on after the system refused one, for lack of descriptors or of
 * memory that something else in the process has: a listener that stops for good is worse than one that tries in vain.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class Acceptor extends ChannelInboundHandlerAdapter {
    private static final System.Logger LOG = System.getLogger(Acceptor.class.getName());
    private static final long PAUSE_MILLIS = 200;
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final int most;
    private final Runnable makeRoom;
    private int open;
    private boolean isPausing;
    private boolean isMakingRoom;
    private long nextWord = System.nanoTime();

    /** Room for so many; {@code makeRoom} ends one that waits for a request, if there is one, perhaps in a while. */
    Acceptor(int most, Runnable makeRoom) {
        this.most = most;
        this.makeRoom = makeRoom;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        open++;
        resume(context);
        makeRoom(context);
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

    /** Now, and again while it is of no use: whoever is answered now will be idle in a while. */
    private void makeRoom(ChannelHandlerContext context) {
        if (open < most || !context.channel().isOpen()) {
            return;
        }
        makeRoom.run();
        if (!isMakingRoom) {
            isMakingRoom = true;
            later(context, () -> {
                isMakingRoom = false;
                makeRoom(context);
            });
        }
    }

    private static void later(ChannelHandlerContext context, Runnable action) {
        context.executor().schedule(action, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        isPausing = true;
        resume(context);
        later(context, () -> {
            isPausing = false;
            resume(context);
        });
        if (System.nanoTime() - nextWord >= 0) {
            nextWord = System.nanoTime() + QUIET_NANOS;
            LOG.log(System.Logger.Level.WARNING, "event=cannot_accept open={0} cause={1}", open, cause);
        }
    }
}
