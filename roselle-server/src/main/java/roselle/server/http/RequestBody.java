package roselle.server.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import roselle.server.transport.Call;

/** The body of one request, read when someone asks for it, within a limit and within the room for all. */
final class RequestBody {
    /** Bytes that are parsed within some milliseconds. */
    private static final int SHORT = 256 << 10;

    private final Call call;
    private final long limit;
    private final BodyRoom.Share room;

    /**
     * A request's body, of which nothing is read yet.
     *
     * @param limit the most bytes that it may have
     * @param room its share of the memory for all bodies
     */
    RequestBody(Call call, long limit, BodyRoom.Share room) {
        this.call = call;
        this.limit = limit;
        this.room = room;
    }

    void chargeTo(String owner) {
        room.chargeTo(owner);
    }

    byte[] read() throws IOException {
        if (call.head().announced() > limit) {
            throw tooLarge();
        }
        var body = new ByteArrayOutputStream();
        for (byte[] piece = call.read(); piece.length > 0; piece = call.read()) {
            if (body.size() + piece.length > limit) {
                throw tooLarge();
            }
            room.take(piece.length); // what has come, not what was announced
            body.writeBytes(piece);
        }
        return body.toByteArray();
    }

    /** The same as a JSON object. */
    JsonFields fields() throws IOException {
        byte[] body = read();
        return body.length <= SHORT ? parsed(body) : room.aside(body.length, () -> parsed(body));
    }

    private JsonFields parsed(byte[] body) {
        room.take(JsonWeight.of(body));
        return Json.object(body);
    }

    private ApiException tooLarge() {
        return new ApiException(
                ErrorKind.BODY_TOO_LARGE,
                "the body has more than " + limit + " bytes, the most that a request may: shorten it");
    }
}
