package roselle.structured;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keys that are written as words, without marks around them: letters, digits, {@code _}, {@code -} and {@code $}. */
final class BareKeys {
    private static final Set<String> DEFINITIONS = Set.of("$defs", "definitions");

    /** Keywords that say what keys are like which no list names. */
    private static final Set<String> DESCRIBING = Set.of("patternProperties", "propertyNames");

    /** Keywords with lists of keys. */
    private static final Set<String> LISTING = Set.of("required", "dependentRequired", "dependencies");

    private BareKeys() {}

    static boolean isWord(int letter) {
        boolean isLetter = (letter | 0x20) >= 'a' && (letter | 0x20) <= 'z';
        return isLetter || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '$';
    }

    private static boolean isBare(String key) {
        return !key.isEmpty() && key.chars().allMatch(BareKeys::isWord);
    }

    /** Whether all keys that a schema asks for can be written so. */
    static boolean areIn(Map<?, ?> schema) {
        return schema.entrySet().stream().allMatch(entry -> {
            String key = String.valueOf(entry.getKey());
            @Nullable Object value = entry.getValue();
            if (DEFINITIONS.contains(key) && value instanceof Map<?, ?> definitions) {
                return definitions.values().stream().allMatch(BareKeys::areInPart);
            }
            return isBare(key)
                    && !DESCRIBING.contains(key)
                    && (!LISTING.contains(key) || areListed(value))
                    && areInPart(value);
        });
    }

    private static boolean areInPart(@Nullable Object part) {
        return switch (part) {
            case Map<?, ?> map -> areIn(map);
            case List<?> list -> list.stream().allMatch(BareKeys::areInPart);
            case null, default -> true;
        };
    }

    private static boolean areListed(@Nullable Object listed) {
        return switch (listed) {
            case String key -> isBare(key);
            case List<?> keys -> keys.stream().allMatch(BareKeys::areListed);
            case Map<?, ?> lists -> lists.values().stream().allMatch(BareKeys::areListed);
            case null, default -> true;
        };
    }
}
