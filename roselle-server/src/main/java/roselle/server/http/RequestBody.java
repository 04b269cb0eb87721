package roselle.server.http;

import io.helidon.webserver.http.ServerRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/**
 * The body of one request, read when someone asks for it, within a limit and within the room for all.
 *
 * @param limit the most bytes that it may have
 * @param room its share of the memory for all bodies
 */
record RequestBody(ServerRequest request, PeerLiveness peer, long limit, BodyRoom.Share room) {
    private static final int PIECE = 64 << 10;

    /** Bytes that are parsed within some milliseconds. */
    private static final int SHORT = 256 << 10;

    byte[] read() throws IOException {
        if (!request.content().hasEntity()) {
            return new byte[0];
        }
        long announced = request.headers().contentLength().orElse(0);
        if (announced > limit) {
            throw tooLarge();
        }
        peer.awaitsBody();
        byte[] body = announced > 0 ? announced(announced) : unannounced();
        peer.goesOn();
        return body;
    }

    /** The same as a JSON object. */
    JsonFields fields() throws IOException {
        byte[] body = read();
        return body.length <= SHORT ? parsed(body) : room.aside(() -> parsed(body));
    }

    private JsonFields parsed(byte[] body) {
        room.take(JsonWeight.of(body));
        return Json.object(body);
    }

    private byte[] announced(long length) throws IOException {
        room.take(length);
        return request.content().inputStream().readNBytes((int) length);
    }

    private byte[] unannounced() throws IOException {
        var body = new ByteArrayOutputStream();
        var stream = request.content().inputStream();
        for (byte[] piece = stream.readNBytes(PIECE); piece.length > 0; piece = stream.readNBytes(PIECE)) {
            if (body.size() + piece.length > limit) {
                throw tooLarge();
            }
            room.take(piece.length);
            body.writeBytes(piece);
        }
        return body.toByteArray();
    }

    private ApiException tooLarge() {
        return new ApiException(
                ErrorKind.BODY_TOO_LARGE,
                "the body has more than " + limit + " bytes, the most that a request may: shorten it");
    }
}
