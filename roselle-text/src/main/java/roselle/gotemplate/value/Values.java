package roselle.gotemplate.value;

import java.nio.charset.StandardCharsets;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/** What Go's templates ask of any value: whether it is true, how long it is, what its type is called. */
public final class Values {
    private Values() {}

    public static boolean isTrue(Object value) {
        return switch (value) {
            case Boolean truth -> truth;
            case Long number -> number != 0;
            case Double number -> number != 0;
            case String text -> !text.isEmpty();
            case Slice slice -> !slice.items().isEmpty();
            case Dictionary dictionary -> !dictionary.entries().isEmpty();
            case Struct _ -> true;
            default -> false;
        };
    }

    /** The length as Go counts it, of a text in bytes. */
    public static long length(Object value) {
        return switch (value) {
            case String text -> bytes(text).length;
            case Slice slice -> slice.items().size();
            case Dictionary dictionary -> dictionary.entries().size();
            case Nil _ -> throw new TemplateFault("len of nil");
            default -> throw new TemplateFault("len of type " + type(value));
        };
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Refuses to add to a text that is long enough already, or what is nested too deeply. */
    static void requireRoom(StringBuilder text, int depth) {
        if (depth > Limits.DATA_DEPTH) {
            throw new TemplateFault("the value is nested too deeply");
        }
        if (text.length() > Limits.DEFAULT.textCharacters()) {
            throw new TemplateFault("a text exceeds the limit of " + Limits.DEFAULT.textCharacters() + " characters");
        }
    }

    public static String type(Object value) {
        return switch (value) {
            case Boolean _ -> "bool";
            case Long _ -> "int";
            case Double _ -> "float64";
            case String _ -> "string";
            case Slice _ -> "list";
            case Dictionary _ -> "map";
            case Struct struct -> struct.type();
            default -> "nil";
        };
    }
}
