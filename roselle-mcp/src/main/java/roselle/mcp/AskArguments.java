package roselle.mcp;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import tools.jackson.databind.json.JsonMapper;

/** The arguments of a call of {@code ask} as a request; what is not known is refused by name. */
final class AskArguments {
    private static final Set<String> NAMES = Set.of("prompt", "system", "temperature", "max_tokens", "seed", "schema");

    private AskArguments() {}

    static GenerationRequest read(Map<String, Object> arguments) {
        var unknown = new TreeSet<>(arguments.keySet());
        unknown.removeAll(NAMES);
        if (!unknown.isEmpty()) {
            throw new InvalidRequestException(
                    "ask has no argument " + unknown.first() + ": it has " + String.join(", ", new TreeSet<>(NAMES)));
        }
        var builder = GenerationRequest.builder();
        take(arguments, "system", String.class, "a string", builder::system);
        if (!(arguments.get("prompt") instanceof String prompt)) {
            throw new InvalidRequestException("ask needs a prompt, which is a string");
        }
        builder.user(prompt);
        take(arguments, "temperature", Number.class, "a number", value -> builder.temperature(value.doubleValue()));
        take(arguments, "max_tokens", Integer.class, "an integer", builder::maxTokens);
        take(arguments, "seed", Number.class, "an integer", value -> builder.seed(whole(value)));
        take(
                arguments,
                "schema",
                Map.class,
                "a JSON schema",
                value -> builder.jsonSchema(JsonMapper.shared().writeValueAsString(value)));
        return builder.build();
    }

    private static long whole(Number value) {
        if (value instanceof Integer || value instanceof Long) {
            return value.longValue();
        }
        throw new InvalidRequestException("seed is " + value + ": it is an integer");
    }

    private static <T> void take(
            Map<String, Object> arguments, String name, Class<T> type, String what, Consumer<T> taker) {
        @Nullable Object value = arguments.get(name);
        if (type.isInstance(value)) {
            taker.accept(type.cast(value));
        } else if (value != null) {
            throw new InvalidRequestException(name + " is " + value + ": it is " + what);
        }
    }
}
