package roselle.server.batch;

import roselle.server.http.JsonWriter;
import tools.jackson.databind.JsonNode;

/**
 * A file that is kept.
 *
 * @param key whose it is; empty for nobody's
 * @param purpose {@code batch} for requests, {@code batch_output} for answers and errors
 * @param createdAt in seconds since 1970
 * @param expiresAt likewise, after which it is no longer there
 */
record StoredFile(String id, String key, String name, String purpose, long bytes, long createdAt, long expiresAt) {
    static StoredFile of(JsonNode json) {
        return new StoredFile(
                json.get("id").stringValue(),
                json.get("key").stringValue(),
                json.get("name").stringValue(),
                json.get("purpose").stringValue(),
                json.get("bytes").longValue(),
                json.get("created_at").longValue(),
                json.get("expires_at").longValue());
    }

    /** As the folder has it. */
    void keep(JsonWriter json) {
        json.object()
                .field("id", id)
                .field("key", key)
                .field("name", name)
                .field("purpose", purpose)
                .field("bytes", bytes)
                .field("created_at", createdAt)
                .field("expires_at", expiresAt)
                .endObject();
    }

    /** As clients have it. */
    JsonWriter tell(JsonWriter json) {
        return json.object()
                .field("id", id)
                .field("object", "file")
                .field("bytes", bytes)
                .field("created_at", createdAt)
                .field("expires_at", expiresAt)
                .field("filename", name)
                .field("purpose", purpose)
                .field("status", "processed")
                .endObject();
    }
}
