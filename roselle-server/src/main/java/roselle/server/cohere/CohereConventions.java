package roselle.server.cohere;

import java.util.Locale;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.JsonWriter;
import roselle.server.http.SseFormat;
import roselle.server.http.StreamFormat;

/** How Cohere's API speaks: an error is one text, with the id of the request. */
record CohereConventions() implements Conventions {
    static final CohereConventions INSTANCE = new CohereConventions();

    private static final StreamFormat STREAM = new SseFormat("", "");

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        String kind = error.kind().name().toLowerCase(Locale.ROOT);
        var body = new JsonWriter().object().field("id", requestId).field("message", error.getMessage());
        return new ErrorAnswer(error.status(), kind, "", body.endObject());
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
