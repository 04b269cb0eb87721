package roselle.checkpoint;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Typed, checked access to a checkpoint's key-value metadata: GGUF's keys, or the fields of a JSON file.
 *
 * <p>A getter fails with a {@code CheckpointException} that names file, key and value when the key is absent or holds
 * another type; those with a fallback return it when the key is absent or null. Integers are checked to fit. A getter of
 * a list takes a lone value for a list of one.
 */
public interface Metadata {
    Set<String> keys();

    /** Whether the key is there and not null. */
    boolean has(String key);

    /** Whether the key says nothing: whether it is absent or null, or, where the format has such, false or empty. */
    boolean isOff(String key);

    /** Whether the key is there and holds true or false. */
    boolean isFlag(String key);

    String string(String key);

    String string(String key, String fallback);

    int integer(String key);

    int integer(String key, int fallback);

    long longInteger(String key);

    double number(String key);

    double number(String key, double fallback);

    boolean flag(String key, boolean fallback);

    List<String> strings(String key);

    /** A list of integers; a lone one is a list of one. */
    int[] integers(String key);

    float[] numbers(String key);

    boolean[] flags(String key);

    /** A nested object; empty where absent, null or, as in GGUF, not a thing. */
    Optional<Metadata> object(String key);

    /** Where this comes from, for messages: a file, and a path of keys within it. */
    String origin();
}
