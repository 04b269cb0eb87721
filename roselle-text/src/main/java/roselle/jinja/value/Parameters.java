package roselle.jinja.value;

import java.util.ArrayList;
import java.util.List;
import roselle.jinja.text.TemplateFault;

/** The parameters that a built-in function declares; {@code bind} matches a call with them as Python does. */
public final class Parameters {
    private final String function;
    private final List<String> names = new ArrayList<>();
    private final int required;
    private final boolean named;

    private Parameters(String function, boolean named, String declaration) {
        this.function = function;
        this.named = named;
        int needed = 0;
        for (String name : words(declaration)) {
            boolean optional = name.endsWith("?");
            names.add(optional ? name.substring(0, name.length() - 1) : name);
            needed += optional ? 0 : 1;
        }
        required = needed;
    }

    /** Parameters by position or name, apart by spaces; a question mark follows the name of an optional one. */
    public static Parameters of(String function, String declaration) {
        return new Parameters(function, true, declaration);
    }

    /** Parameters by position only. */
    public static Parameters positional(String function, String declaration) {
        return new Parameters(function, false, declaration);
    }

    public Bound bind(Arguments arguments) {
        var values = new Object[names.size()];
        int given = arguments.positional().size();
        if (given > values.length) {
            throw new TemplateFault(
                    function + "() takes at most " + values.length + " argument(s), and " + given + " were given");
        }
        for (int i = 0; i < given; i++) {
            values[i] = arguments.positional().get(i);
        }
        arguments.named().forEach((name, value) -> values[place(name, values)] = value);
        for (int i = 0; i < required; i++) {
            if (values[i] == null) {
                throw new TemplateFault(function + "() needs the argument '" + names.get(i) + "'");
            }
        }
        return new Bound(function, names, values);
    }

    private int place(String name, Object[] values) {
        int index = named ? names.indexOf(name) : -1;
        if (index < 0) {
            throw new TemplateFault(function + "() takes no argument named '" + name + "'");
        }
        if (values[index] != null) {
            throw new TemplateFault(function + "() was given the argument '" + name + "' twice");
        }
        return index;
    }

    private static List<String> words(String declaration) {
        return declaration.isEmpty() ? List.of() : pieces(declaration, ' ');
    }

    /** The pieces between separators, empty ones too. */
    public static List<String> pieces(String text, char separator) {
        var pieces = new java.util.ArrayList<String>();
        int start = 0;
        for (int end = text.indexOf(separator); end >= 0; end = text.indexOf(separator, start)) {
            pieces.add(text.substring(start, end));
            start = end + 1;
        }
        pieces.add(text.substring(start));
        return List.copyOf(pieces);
    }
}
