package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.api.ChatMessage;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;

/**
 * Responses that later requests may go on from, in memory: the latest ones, within a number of responses and of bytes.
 * Thread-safe. A response is found by the key that asked for it alone.
 */
final class ResponseStore {
    private static final int MAX_RESPONSES = 1024;
    private static final long MAX_BYTES = 64L << 20;

    private final Map<String, Kept> kept = new LinkedHashMap<>();
    private long bytes;

    /**
     * A response as it is kept.
     *
     * @param key whose it is
     * @param conversation its messages and its answer
     * @param body what {@code GET} answers
     */
    record Kept(String key, List<ChatMessage> conversation, String body) {
        byte[] bodyBytes() {
            return body.getBytes(StandardCharsets.UTF_8);
        }

        long bytes() {
            long characters = body.length();
            for (ChatMessage message : conversation) {
                characters += message.fields().toString().length();
            }
            return 2 * characters;
        }
    }

    synchronized void keep(String id, Kept response) {
        kept.put(id, response);
        bytes += response.bytes();
        Iterator<Kept> oldest = kept.values().iterator();
        while (kept.size() > MAX_RESPONSES || (bytes > MAX_BYTES && kept.size() > 1)) {
            bytes -= oldest.next().bytes();
            oldest.remove();
        }
    }

    /** The response of an id; 404 where there is none, or it is another key's. */
    synchronized Kept find(String id, String key) {
        Kept found = kept.get(id);
        if (found == null || !found.key().equals(key)) {
            throw new ApiException(
                    ErrorKind.ANSWER_NOT_FOUND,
                    "there is no response of that id: this server keeps the latest " + MAX_RESPONSES
                            + " in memory until it ends");
        }
        return found;
    }

    synchronized void remove(String id, String key) {
        bytes -= find(id, key).bytes();
        kept.remove(id);
    }
}
