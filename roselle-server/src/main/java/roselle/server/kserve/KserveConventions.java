package roselle.server.kserve;

import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.JsonWriter;
import roselle.server.http.SseFormat;
import roselle.server.http.StreamFormat;

/** How KServe's protocol and Triton speak: an error is a text, and a body's content type does not matter. */
record KserveConventions() implements Conventions {
    static final KserveConventions INSTANCE = new KserveConventions();

    private static final SseFormat STREAM = new SseFormat("", "");

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        var body = new JsonWriter().object().field("error", error.getMessage());
        return new ErrorAnswer(error.status(), "", "", body.endObject());
    }

    /** Tensors may follow the JSON, so Triton's clients name no type. */
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
        return STREAM;
    }
}
