package roselle.server.batch;

import java.util.Set;
import roselle.server.batch.Batch.LineError;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;

/**
 * A request of a file.
 *
 * @param customId what its writer calls it
 * @param path which it is sent to
 * @param body the request itself
 */
record RequestLine(String customId, String path, String body) {
    static final int LONGEST_ID = 512;

    /** What batches may be of. */
    static final Set<String> PATHS =
            Set.of("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses");

    /** A line that is no request. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient LineError error;

        Malformed(int line, String code, String message, String field) {
            super(message);
            error = new LineError(line, code, message, field);
        }

        LineError error() {
            return error;
        }
    }

    /** Reads a line of the file. */
    static RequestLine read(byte[] line, int number) throws Malformed {
        try {
            JsonFields fields = Json.object(line);
            String id = fields.requiredString("custom_id");
            if (id.isEmpty() || id.length() > LONGEST_ID) {
                throw new Malformed(
                        number,
                        "invalid_custom_id",
                        "custom_id has " + id.length() + " characters: 1 to " + LONGEST_ID,
                        "custom_id");
            }
            String method = fields.requiredString("method");
            if (!method.equals("POST")) {
                throw new Malformed(number, "invalid_method", "the method is another than POST", "method");
            }
            String path = fields.requiredString("url");
            if (!PATHS.contains(path)) {
                throw new Malformed(number, "invalid_url", "url is none that batches may be of", "url");
            }
            String body = fields.object("body")
                    .orElseThrow(() -> fields.missing("body"))
                    .json();
            fields.refuseOthers();
            return new RequestLine(id, path, body);
        } catch (ApiException refusal) {
            String code = refusal.field().isEmpty() ? "invalid_json_line" : "invalid_request";
            throw new Malformed(number, code, refusal.getMessage(), refusal.field());
        }
    }
}
