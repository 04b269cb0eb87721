package roselle.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.List;

/** A connection that the thread which has something to say may write to: to wake an event loop for it takes longer than to write. */
public final class DirectChannel extends NioSocketChannel {
    /** One to another server, not open yet. */
    public DirectChannel() {}

    private DirectChannel(Channel listener, SocketChannel accepted) {
        super(listener, accepted);
    }

    /** Writes as much as the system takes at once, while the event loop has nothing to write; the rest stays in the buffer. */
    public void writeNow(ByteBuf bytes) throws IOException {
        long written = javaChannel().write(bytes.nioBuffers());
        bytes.skipBytes((int) written);
    }

    /** Accepts such connections. */
    static final class Listener extends NioServerSocketChannel {
        private static final System.Logger LOG = System.getLogger(Listener.class.getName());

        @Override
        protected int doReadMessages(List<Object> accepted) throws IOException {
            SocketChannel connection = javaChannel().accept();
            if (connection == null) {
                return 0;
            }
            try {
                accepted.add(new DirectChannel(this, connection));
                return 1;
            } catch (RuntimeException | Error failure) { // for want of memory, and the next one may have some
                LOG.log(System.Logger.Level.WARNING, "event=connection_not_accepted", failure);
                connection.close();
                return 0;
            }
        }
    }
}
