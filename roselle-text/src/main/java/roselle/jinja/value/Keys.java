package roselle.jinja.value;

import java.util.ArrayList;
import java.util.List;
import roselle.jinja.text.Limits;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;

/** What a value is called as the key of a dictionary: equal values have equal keys. */
public final class Keys {
    private Keys() {}

    public static Object canonical(Rendering rendering, Object value) {
        return canonical(rendering, value, 0);
    }

    private static Object canonical(Rendering rendering, Object value, int depth) {
        return switch (value) {
            case String text -> text;
            case Markup markup -> markup.text();
            case Boolean truth -> truth ? 1L : 0L;
            case Double number -> real(number);
            case Tuple tuple -> tuple(rendering, tuple, depth);
            case Undefined _ -> Undefined.class;
            case List<?> _ -> throw unhashable(value);
            case Dictionary _ -> throw unhashable(value);
            case View _ -> throw unhashable(value);
            default -> value;
        };
    }

    private static Object real(double number) {
        boolean whole = Math.rint(number) == number && !Double.isInfinite(number);
        return whole ? Numbers.truncate(number) : (Object) number;
    }

    private static Object tuple(Rendering rendering, Tuple tuple, int depth) {
        if (depth > Limits.DATA_DEPTH) {
            throw new TemplateFault("a tuple is nested too deeply to be a key");
        }
        var members = new ArrayList<>();
        for (Object item : tuple.items()) {
            rendering.step();
            members.add(canonical(rendering, item, depth + 1));
        }
        return new Tuple(members);
    }

    private static TemplateFault unhashable(Object value) {
        return new TemplateFault("unhashable type: '" + Types.name(value) + "'");
    }
}
