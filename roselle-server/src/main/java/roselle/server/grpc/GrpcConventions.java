package roselle.server.grpc;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.JsonWriter;
import roselle.server.http.StreamFormat;
import roselle.server.http.Utf8Buffer;

/** How services of gRPC speak: every answer has the status 200 of HTTP, and a failure is told behind it. */
public record GrpcConventions() implements Conventions {
    public static final GrpcConventions INSTANCE = new GrpcConventions();

    static final Map<String, String> SUCCESS = Map.of("grpc-status", Integer.toString(GrpcStatus.OK.code()));

    /** Messages are no documents: their frames are made by {@link GrpcMessages}. */
    private static final StreamFormat FRAMES = new StreamFormat() {
        @Override
        public String contentType() {
            return "application/grpc";
        }

        @Override
        public void begin(Utf8Buffer out, String event) {}

        @Override
        public void end(Utf8Buffer out) {}

        @Override
        public String errorEvent() {
            return "";
        }

        @Override
        public void finish(Utf8Buffer out) {}
    };

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        var body = new JsonWriter().object().field("error", error.getMessage());
        return new ErrorAnswer(200, GrpcStatus.of(error.kind()).name(), "", body.endObject());
    }

    @Override
    public Map<String, String> trailers(ApiException error) {
        return Map.of(
                "grpc-status", Integer.toString(GrpcStatus.of(error.kind()).code()),
                "grpc-message", encoded(error.getMessage()));
    }

    /** Percent-encoded as gRPC has it: all but the visible letters of ASCII, and the percent sign. */
    private static String encoded(String message) {
        var text = new StringBuilder();
        for (byte unit : message.getBytes(StandardCharsets.UTF_8)) {
            if (unit >= ' ' && unit <= '~' && unit != '%') {
                text.append((char) unit);
            } else {
                text.append("%%%02X".formatted(unit));
            }
        }
        return text.toString();
    }

    @Override
    public boolean readsAnyContentType() {
        return true;
    }

    @Override
    public Credentials credentials() {
        return Credentials.BEARER;
    }

    @Override
    public StreamFormat streamFormat() {
        return FRAMES;
    }
}
