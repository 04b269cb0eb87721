package roselle.server.transport;

import java.io.IOException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The peer has gone: nobody is there to be told, and nothing is wrong here. */
public final class PeerGoneException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Of a peer that has gone, or is to be broken off because its answer cannot be ended. */
    public PeerGoneException(@Nullable Throwable cause) {
        super("the peer has gone", cause);
    }
}
