package roselle.jinja.value;

import java.math.BigInteger;
import java.util.List;

/** Whether a value counts as true. */
public final class Truth {
    private Truth() {}

    public static boolean of(Object value) {
        return switch (value) {
            case Boolean truth -> truth;
            case String text -> !text.isEmpty();
            case None _ -> false;
            case Undefined _ -> false;
            case Dictionary dictionary -> dictionary.size() > 0;
            case List<?> list -> !list.isEmpty();
            case Long number -> number != 0;
            case Double number -> number != 0;
            case BigInteger number -> number.signum() != 0;
            case Tuple tuple -> !tuple.items().isEmpty();
            case Range range -> range.length() > 0;
            case View view -> !view.members().isEmpty();
            case Markup markup -> !markup.text().isEmpty();
            case Sized sized -> sized.length() > 0;
            default -> true;
        };
    }
}
