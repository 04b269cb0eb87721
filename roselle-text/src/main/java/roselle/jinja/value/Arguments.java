package roselle.jinja.value;

import java.util.List;
import java.util.Map;

/** What a call passes, evaluated. */
public record Arguments(List<Object> positional, Map<String, Object> named) {
    public static final Arguments NONE = new Arguments(List.of(), Map.of());

    static Arguments of(Object... positional) {
        return new Arguments(List.of(positional), Map.of());
    }

    boolean isEmpty() {
        return positional.isEmpty() && named.isEmpty();
    }

    /** The same call without its first positional arguments. */
    public Arguments without(int count) {
        return new Arguments(positional.subList(count, positional.size()), named);
    }
}
