package roselle.conversation.format;

import java.util.List;
import java.util.function.UnaryOperator;

/** How one call is written between the marks around it. */
public sealed interface Layout {
    /**
     * One JSON object with the name and the arguments in it; several, and arrays of them, are read too.
     *
     * @param name the name's key; empty where the tool's name is itself the key of its arguments
     * @param arguments the arguments' keys, the usual one first
     * @param id the id's key; empty for none
     */
    record JsonObject(String name, List<String> arguments, String id) implements Layout {
        public JsonObject {
            arguments = List.copyOf(arguments);
        }
    }

    /** Literals with the name and the arguments between them. */
    record Elements(List<Element> elements) implements Layout {
        public Elements {
            elements = List.copyOf(elements);
        }
    }

    /** {@code name(key=value, …)} with literals of Python. */
    record Python() implements Layout {}

    /** The same with other letters in its literals. */
    static Layout map(Layout layout, UnaryOperator<String> letters) {
        return switch (layout) {
            case JsonObject json -> json;
            case Python python -> python;
            case Elements(List<Element> elements) ->
                new Elements(elements.stream()
                        .map(element -> Element.map(element, letters))
                        .toList());
        };
    }
}
