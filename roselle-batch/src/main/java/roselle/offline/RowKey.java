package roselle.offline;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.api.SamplingParameters;

/**
 * What names a row by what it asks, in whatever partition, machine or attempt it is: the beginning of a SHA-256 of its values, each
 * with its type and its length, records by their components, maps and sets in the order of their keys.
 */
public final class RowKey {
    private static final int KEY_BYTES = 16;

    /** Components that came after keys were first kept, with the value that stands for their absence: keys stay what they were. */
    private static final Map<String, Object> LATER = Map.of(
            "SamplingParameters.penaltyWindow",
            SamplingParameters.ALL_TOKENS,
            "SamplingParameters.penalizesPrompt",
            false);

    /** Components of records by their type: those that a class gives are new each time, and dear to call the first time. */
    private static final ClassValue<List<Component>> COMPONENTS = new ClassValue<>() {
        @Override
        protected List<Component> computeValue(Class<?> type) {
            return Arrays.stream(type.getRecordComponents())
                    .map(each -> new Component(type.getSimpleName() + "." + each.getName(), each.getAccessor()))
                    .toList();
        }
    };

    private record Component(String name, Method accessor) {
        private @Nullable Object value(Record fields) {
            try {
                return accessor.invoke(fields);
            } catch (ReflectiveOperationException hidden) {
                throw new IllegalStateException(name + " cannot be read", hidden);
            }
        }
    }

    private RowKey() {}

    /** A seed for a prompt: equal prompts have equal ones. */
    public static long seed(long base, Prompt prompt) {
        return ByteBuffer.wrap(sha256(List.of(base, prompt))).getLong();
    }

    /** Names what a model is asked and with what parameters, but not when: requests of one name have the same answer. */
    public static String of(String model, GenerationRequest request) {
        byte[] sum = sha256(List.of(
                model, request.prompt(), request.sampling(), request.stop(), request.format(), request.adapter()));
        return HexFormat.of().formatHex(sum, 0, KEY_BYTES);
    }

    private static byte[] sha256(Object value) {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            add(digest, value);
            return digest.digest();
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible); // every Java has it
        }
    }

    private static void add(MessageDigest digest, @Nullable Object value) {
        String type = value == null ? "null" : value.getClass().getSimpleName();
        switch (value) {
            case Record fields -> {
                Map<String, @Nullable Object> values = values(fields);
                addText(digest, type + values.size());
                values.values().forEach(each -> add(digest, each));
            }
            case Map<?, ?> map -> {
                var sorted = new TreeMap<String, @Nullable Object>();
                map.forEach((key, each) -> sorted.put(String.valueOf(key), each));
                add(digest, List.copyOf(sorted.keySet()));
                sorted.values().forEach(each -> add(digest, each));
            }
            case Set<?> set ->
                add(
                        digest,
                        List.copyOf(
                                new TreeSet<>(set.stream().map(String::valueOf).toList())));
            case Collection<?> list -> {
                addText(digest, "list" + list.size());
                list.forEach(each -> add(digest, each));
            }
            case null -> addText(digest, type);
            default -> addText(digest, type + " " + value); // texts, numbers, booleans, enums
        }
    }

    /** By component, in their order. */
    private static Map<String, @Nullable Object> values(Record fields) {
        var values = new LinkedHashMap<String, @Nullable Object>();
        for (Component component : COMPONENTS.get(fields.getClass())) {
            Object value = component.value(fields);
            if (!LATER.containsKey(component.name())
                    || !LATER.get(component.name()).equals(value)) {
                values.put(component.name(), value);
            }
        }
        return values;
    }

    private static void addText(MessageDigest digest, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).flip());
        digest.update(bytes);
    }
}
