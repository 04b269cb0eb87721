package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.api.ChatMessage;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.JsonWriter;

/**
 * Responses that later requests may go on from, in memory: the latest ones, within a number of responses and of bytes.
 * Thread-safe. A response is found by the key that asked for it alone, and makes room for another key's only where its own key has
 * most: whoever keeps less than an even share keeps it.
 */
final class ResponseStore {
    static final int MAX_RESPONSES = 1024;
    static final long MAX_BYTES = 64L << 20;

    private final Map<String, Shelf> shelves = new HashMap<>(); // by key
    private int count;
    private long bytes;

    /** What one key keeps, the oldest first. */
    private static final class Shelf {
        final LinkedHashMap<String, Kept> responses = new LinkedHashMap<>();
        long bytes;

        /** The share of all room that this takes: of the number or of the bytes, whichever is more. */
        double share() {
            return Math.max((double) responses.size() / MAX_RESPONSES, (double) bytes / MAX_BYTES);
        }
    }

    /**
     * A response as it is kept.
     *
     * @param key whose it is
     * @param conversation its messages and its answer, if it has one
     * @param isAnswered whether it has one
     * @param isInBackground whether it is or was made while nobody waits
     * @param body what {@code GET} answers
     * @param items with which it was asked
     */
    record Kept(
            String key,
            List<ChatMessage> conversation,
            boolean isAnswered,
            boolean isInBackground,
            String body,
            List<KeptItem> items) {
        /** A response as far as it is. */
        static Kept of(String key, ResponseBody body) {
            ResponseCall call = body.call();
            var conversation = new ArrayList<>(call.conversation());
            if (body.isAnswered()) {
                conversation.add(body.output().message());
            }
            var json = new JsonWriter();
            body.write(json);
            boolean isInBackground = call.asked().isInBackground();
            return new Kept(key, conversation, body.isAnswered(), isInBackground, json.toString(), call.items());
        }

        byte[] bodyBytes() {
            return body.getBytes(StandardCharsets.UTF_8);
        }

        long bytes() {
            long characters = body.length();
            for (ChatMessage message : conversation) {
                characters += message.fields().toString().length();
            }
            for (KeptItem item : items) {
                characters += item.id().length() + item.json().length();
            }
            return 2 * characters;
        }
    }

    /** Keeps a response, in the place of what was kept of it before. */
    synchronized void keep(String id, Kept response) {
        Shelf before = shelves.get(response.key());
        if (before != null) {
            takeOut(before, id);
        }
        Shelf shelf = shelves.computeIfAbsent(response.key(), _ -> new Shelf());
        shelf.responses.put(id, response);
        shelf.bytes += response.bytes();
        count++;
        bytes += response.bytes();
        while (count > MAX_RESPONSES || (bytes > MAX_BYTES && count > 1)) {
            Shelf fullest = shelf;
            for (Shelf each : shelves.values()) {
                fullest = each.share() > fullest.share() ? each : fullest;
            }
            takeOut(fullest, fullest.responses.firstEntry().getKey());
        }
    }

    private void takeOut(Shelf shelf, String id) {
        Kept gone = shelf.responses.remove(id);
        if (gone != null) {
            shelf.bytes -= gone.bytes();
            count--;
            bytes -= gone.bytes();
            if (shelf.responses.isEmpty()) {
                shelves.remove(gone.key());
            }
        }
    }

    /** The response of an id; 404 where there is none, or it is another key's. */
    synchronized Kept find(String id, String key) {
        Shelf shelf = shelves.get(key);
        Kept found = shelf == null ? null : shelf.responses.get(id);
        if (found == null) {
            throw notFound("", "there is no response of that id");
        }
        return found;
    }

    private static ApiException notFound(String field, String fault) {
        return new ApiException(
                ErrorKind.ANSWER_NOT_FOUND,
                field,
                fault + ": this server keeps the latest " + MAX_RESPONSES + " in memory until it ends");
    }

    /** The same, of a response that a conversation can go on from. */
    synchronized Kept answered(String id, String key) {
        Shelf shelf = shelves.get(key);
        Kept found = shelf == null ? null : shelf.responses.get(id);
        if (found == null) {
            throw notFound("previous_response_id", "previous_response_id names a response that is not there");
        }
        if (!found.isAnswered()) {
            throw ApiException.invalid(
                    "previous_response_id",
                    "previous_response_id names a response that has no answer yet, or got none");
        }
        return found;
    }

    synchronized void remove(String id, String key) {
        find(id, key);
        Shelf shelf = shelves.get(key);
        if (shelf != null) {
            takeOut(shelf, id);
        }
    }
}
