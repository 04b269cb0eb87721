package roselle.api;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One message of a conversation.
 *
 * @param role {@code system}, {@code user}, {@code assistant}, {@code tool}, or what else the template knows
 * @param fields everything the template may read, {@code role} and {@code content} among them: strings, numbers, booleans,
 *     lists and maps
 */
public record ChatMessage(String role, Map<String, Object> fields) {
    public ChatMessage {
        if (role.isBlank()) {
            throw new InvalidRequestException("a message has an empty role");
        }
        var copy = new LinkedHashMap<String, Object>();
        copy.put("role", role);
        copy.putAll(fields);
        fields = Collections.unmodifiableMap(copy);
    }

    public static ChatMessage of(String role, String content) {
        return new ChatMessage(role, Map.of("content", content));
    }

    public static ChatMessage system(String content) {
        return of("system", content);
    }

    public static ChatMessage user(String content) {
        return of("user", content);
    }

    public static ChatMessage assistant(String content) {
        return of("assistant", content);
    }
}
