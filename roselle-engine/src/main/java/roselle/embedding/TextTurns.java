package roselle.embedding;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Requests that wait, in turns: group after group, and within a group request after request. */
final class TextTurns {
    private final ArrayDeque<ArrayDeque<TextRequest>> groups = new ArrayDeque<>(); // none is empty
    private final Map<String, ArrayDeque<TextRequest>> byName = new HashMap<>();

    void add(TextRequest request) {
        ArrayDeque<TextRequest> group = byName.get(request.group);
        if (group == null) {
            group = new ArrayDeque<>();
            byName.put(request.group, group);
            groups.addLast(group);
        }
        group.addLast(request);
    }

    boolean isEmpty() {
        return groups.isEmpty();
    }

    /** The request whose turn it is. */
    TextRequest first() {
        return groups.getFirst().getFirst();
    }

    /** Ends the turn of the first request, which waits for its next one or is done. */
    void pass(boolean waits) {
        ArrayDeque<TextRequest> group = groups.removeFirst();
        TextRequest request = group.removeFirst();
        if (waits) {
            group.addLast(request);
        }
        if (group.isEmpty()) {
            byName.remove(request.group);
        } else {
            groups.addLast(group);
        }
    }

    /** All that wait, in no order. */
    List<TextRequest> all() {
        var all = new ArrayList<TextRequest>();
        groups.forEach(all::addAll);
        return all;
    }
}
