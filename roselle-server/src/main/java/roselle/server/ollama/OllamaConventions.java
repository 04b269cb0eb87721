package roselle.server.ollama;

import java.util.Locale;
import roselle.server.http.ApiException;
import roselle.server.http.Conventions;
import roselle.server.http.Credentials;
import roselle.server.http.ErrorAnswer;
import roselle.server.http.JsonWriter;
import roselle.server.http.LineFormat;
import roselle.server.http.StreamFormat;

/** How Ollama's API speaks: an error is one text, a stream a document a line, and bodies are JSON whatever their type is called. */
record OllamaConventions() implements Conventions {
    static final OllamaConventions INSTANCE = new OllamaConventions();

    private static final StreamFormat STREAM = new LineFormat();

    @Override
    public ErrorAnswer error(ApiException error, String requestId) {
        String kind = error.kind().name().toLowerCase(Locale.ROOT);
        var body = new JsonWriter().object().field("error", error.getMessage()).endObject();
        return new ErrorAnswer(error.status(), kind, "", body);
    }

    @Override
    public Credentials credentials() {
        return Credentials.BEARER;
    }

    @Override
    public StreamFormat streamFormat() {
        return STREAM;
    }

    @Override
    public boolean readsAnyContentType() {
        return true;
    }
}
