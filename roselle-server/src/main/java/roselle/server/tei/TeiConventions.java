package roselle.server.tei;

import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.ErrorKind;
import roselle.server.http.JsonWriter;
import roselle.server.http.SseFormat;
import roselle.server.http.StreamFormat;

/** How Text Embeddings Inference speaks: an error is a text with a type, and what cannot be honoured has the status 422. */
record TeiConventions() implements Conventions {
    static final TeiConventions INSTANCE = new TeiConventions();

    private static final StreamFormat STREAM = new SseFormat("", "");

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        String type = type(error);
        var body = new JsonWriter().object().field("error", error.getMessage()).field("error_type", type);
        return new ErrorAnswer(status(error), type, "", body.endObject());
    }

    private static int status(ApiException error) {
        if (error.kind() == ErrorKind.OVERLOADED) {
            return 429;
        }
        return error.status() == 400 ? 422 : error.status();
    }

    private static String type(ApiException error) {
        return switch (status(error)) {
            case 429 -> "Overloaded";
            case 500 -> "Backend";
            case 503 -> "Unhealthy";
            default -> "Validation";
        };
    }

    @Override
    public Credentials credentials() {
        return Credentials.BEARER;
    }

    @Override
    public StreamFormat streamFormat() {
        return STREAM;
    }
}
