package roselle.server.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Optional;
import roselle.server.transport.Link;

/** The body of one request, read when someone asks for it, within a limit and within the room for all. */
final class RequestBody {
    /** Bytes that are parsed within some milliseconds. */
    private static final int SHORT = 256 << 10;

    private final Link call;
    private final long limit;
    private final BodyRoom.Share room;

    /**
     * A request's body, of which nothing is read yet.
     *
     * @param limit the most bytes that it may have
     * @param room its share of the memory for all bodies
     */
    RequestBody(Link call, long limit, BodyRoom.Share room) {
        this.call = call;
        this.limit = limit;
        this.room = room;
    }

    void chargeTo(String owner) {
        room.chargeTo(owner);
    }

    byte[] read() throws IOException {
        if (call.head().announced() > limit) {
            throw tooLarge(limit);
        }
        var body = new ByteArrayOutputStream();
        for (byte[] piece = call.read(); piece.length > 0; piece = call.read()) {
            if (body.size() + piece.length > limit) {
                throw tooLarge(limit);
            }
            room.take(piece.length); // what has come, not what was announced
            body.writeBytes(piece);
        }
        return body.toByteArray();
    }

    /** The next piece as it came, of a body that is many messages; empty at its end. */
    byte[] piece() throws IOException {
        byte[] piece = call.read();
        room.take(piece.length);
        return piece;
    }

    /** Nobody has the pieces any more. */
    void forgetPieces() {
        room.giveBack();
    }

    /** The most bytes that it, or one message of many, may have. */
    long limit() {
        return limit;
    }

    /** The same as a stream of at most so many bytes, of which none are kept. */
    InputStream stream(long most) {
        return new InputStream() {
            private byte[] piece = new byte[0];
            private int at;
            private long total;
            private boolean isOver;

            @Override
            public int read() throws IOException {
                return fill() ? piece[at++] & 0xFF : -1;
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                if (length > 0 && !fill()) {
                    return -1;
                }
                int taken = Math.min(length, piece.length - at);
                System.arraycopy(piece, at, into, offset, taken);
                at += taken;
                return taken;
            }

            private boolean fill() throws IOException {
                if (at == piece.length && !isOver) {
                    piece = call.read();
                    at = 0;
                    total += piece.length;
                    isOver = piece.length == 0;
                }
                if (Math.max(total, call.head().announced()) > most) {
                    throw tooLarge(most);
                }
                return !isOver;
            }
        };
    }

    /** The same as a JSON object. */
    JsonFields fields() throws IOException {
        return fields(read());
    }

    private JsonFields fields(byte[] body) {
        return body.length <= SHORT ? parsed(body) : room.aside(body.length, () -> parsed(body));
    }

    /** The same, or nothing where there is no body. */
    Optional<JsonFields> fieldsIfAny() throws IOException {
        byte[] body = read();
        return body.length == 0 ? Optional.empty() : Optional.of(fields(body));
    }

    /** So many bytes as a JSON object, and those that follow. */
    JsonAndBytes fieldsAndBytes(int jsonBytes) throws IOException {
        byte[] body = read();
        if (jsonBytes > body.length) {
            throw ApiException.invalid(
                    "", jsonBytes + " bytes of the body are said to be JSON: it has " + body.length + " in all");
        }
        room.take(body.length); // both parts are copies
        byte[] json = Arrays.copyOf(body, jsonBytes);
        byte[] rest = Arrays.copyOfRange(body, jsonBytes, body.length);
        return new JsonAndBytes(fields(json), rest);
    }

    private JsonFields parsed(byte[] body) {
        room.take(JsonWeight.of(body));
        return Json.object(body);
    }

    private static ApiException tooLarge(long limit) {
        return new ApiException(
                ErrorKind.BODY_TOO_LARGE,
                "the body has more than " + limit + " bytes, the most that a request may: shorten it");
    }
}
