package roselle.jinja.value;

import java.util.List;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;

/** The arguments of one call, in the order of the parameters that they were bound to. */
public final class Bound {
    private final String function;
    private final List<String> names;
    private final Object[] values;

    Bound(String function, List<String> names, Object[] values) {
        this.function = function;
        this.names = names;
        this.values = values;
    }

    public boolean has(int index) {
        return values[index] != null;
    }

    /** Whether an argument other than None was given. */
    public boolean isSet(int index) {
        return values[index] != null && values[index] != None.NONE;
    }

    public Object at(int index) {
        return values[index];
    }

    public Object or(int index, Object otherwise) {
        return values[index] == null ? otherwise : values[index];
    }

    public boolean truth(int index, boolean otherwise) {
        return values[index] == null ? otherwise : Truth.of(values[index]);
    }

    /** An integer that fits an int; larger ones are cut to its ends, as a slice would. */
    public int integer(int index, int otherwise) {
        return values[index] == null ? otherwise : integer(index);
    }

    public int integer(int index) {
        if (!Numbers.isInteger(values[index])) {
            throw wrong(index, "an integer");
        }
        return Numbers.clamp(values[index]);
    }

    public String text(int index, String otherwise) {
        return values[index] == null ? otherwise : text(index);
    }

    public String text(int index) {
        return switch (values[index]) {
            case String text -> text;
            case Markup(String text) -> text;
            default -> throw wrong(index, "a string");
        };
    }

    public TemplateFault wrong(int index, String expected) {
        return new TemplateFault(function + "(): argument '" + names.get(index) + "' must be " + expected + ", not "
                + Types.name(values[index]));
    }
}
