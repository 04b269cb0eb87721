package roselle.server.http;

import java.io.IOException;
import java.util.Map;
import roselle.server.transport.Link;

/**
 * Bytes both ways, for APIs that have messages in the place of documents: pieces of the body while it comes, and of an answer that
 * may begin before that has ended. The answer ends with fields behind its body (trailers).
 */
public final class ByteStream {
    private final EventStream.Opener opener;
    private final RequestBody body;
    private final Link call;
    private boolean hasBegun;

    ByteStream(EventStream.Opener opener, RequestBody body, Link call) {
        this.opener = opener;
        this.body = body;
        this.call = call;
    }

    /** The next piece of the body; empty at its end. It may take as long as a body that is due, or as the next request. */
    public byte[] read(boolean isDue) throws IOException {
        call.expectPiece(isDue);
        byte[] piece = body.piece();
        call.expectNothing();
        return piece;
    }

    /** The pieces that were read are done with: their memory is for others. */
    public void forget() {
        body.forgetPieces();
    }

    /** The most bytes that a message may have. */
    public long most() {
        return body.limit();
    }

    /** Sends bytes; waits while the peer takes nothing. */
    public void write(byte[] bytes) throws IOException {
        begin();
        call.write(bytes, bytes.length);
    }

    /** Ends the answer, and waits until all of it has been taken. */
    public void end(Map<String, String> trailers) throws IOException {
        begin();
        call.end(trailers);
    }

    private void begin() throws IOException {
        if (!hasBegun) {
            hasBegun = true;
            opener.open();
        }
    }
}
