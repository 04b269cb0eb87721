package roselle.server.grpc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import roselle.server.http.ApiException;
import roselle.server.http.ByteStream;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;

/** The messages of one call, each behind five bytes: whether it is compressed, and its length. */
public final class GrpcMessages {
    private static final int HEAD = 5;

    private final ByteStream bytes;
    private byte[] piece = new byte[0];
    private int position;

    /** Those of a call whose content type is gRPC's. */
    public GrpcMessages(Exchange exchange) {
        String type = exchange.requestHeader("content-type")
                .orElse("")
                .split(";", 2)[0]
                .strip();
        if (!type.equals("application/grpc") && !type.equals("application/grpc+proto")) {
            throw new ApiException(
                    ErrorKind.CONTENT_TYPE, "the content type is " + type + ": it must be application/grpc");
        }
        bytes = exchange.bytes();
    }

    /** The one message of a call that has one. */
    public byte[] only() throws IOException {
        byte[] message =
                next(true).orElseThrow(() -> ApiException.invalid("", "the call has no message: it must have one"));
        if (position < piece.length || hasPiece(true)) {
            throw ApiException.invalid("", "the call has more than one message: it must have one");
        }
        return message;
    }

    /** The next of many, without its head, for which the peer may take its time; nothing at the end of the request. */
    public Optional<byte[]> next() throws IOException {
        bytes.forget(); // those before it are answered
        return next(false);
    }

    private Optional<byte[]> next(boolean isDue) throws IOException {
        if (position == piece.length && !hasPiece(isDue)) {
            return Optional.empty();
        }
        ByteBuffer head = ByteBuffer.wrap(read(HEAD));
        byte compressed = head.get();
        if (compressed != 0) {
            throw new ApiException(
                    ErrorKind.NOT_SUPPORTED, "the message is compressed, which is not supported: send it as it is");
        }
        long length = Integer.toUnsignedLong(head.getInt());
        if (length > bytes.most()) {
            throw new ApiException(
                    ErrorKind.BODY_TOO_LARGE,
                    "the message has " + length + " bytes, more than the " + bytes.most()
                            + " that one may: shorten it");
        }
        return Optional.of(read((int) length));
    }

    private boolean hasPiece(boolean isDue) throws IOException {
        piece = bytes.read(isDue);
        position = 0;
        return piece.length > 0;
    }

    /** So many bytes; they are put together as they come, so that nobody takes memory by saying so. */
    private byte[] read(int length) throws IOException {
        byte[] all = new byte[Math.min(length, Math.max(HEAD, piece.length - position))];
        for (int read = 0; read < length; ) {
            if (position == piece.length && !hasPiece(true)) {
                throw ApiException.invalid("", "the request ends within a message");
            }
            int count = Math.min(length - read, piece.length - position);
            if (read + count > all.length) {
                all = Arrays.copyOf(all, (int) Math.min(length, 2L * (read + count)));
            }
            System.arraycopy(piece, position, all, read, count);
            position += count;
            read += count;
        }
        return all.length == length ? all : Arrays.copyOf(all, length);
    }

    /** Sends a message; waits while the peer takes nothing. */
    public void send(ProtoWriter message) throws IOException {
        byte[] content = message.toBytes();
        bytes.write(ByteBuffer.allocate(HEAD + content.length)
                .put((byte) 0)
                .putInt(content.length)
                .put(content)
                .array());
    }

    /** Ends the call, which succeeded. */
    public void end() throws IOException {
        bytes.end(GrpcConventions.SUCCESS);
    }
}
