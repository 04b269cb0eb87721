package roselle.jinja.function;

import org.jspecify.annotations.Nullable;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Attributed;
import roselle.jinja.value.Callable;
import roselle.jinja.value.Parameters;
import roselle.jinja.value.Rendering;

/** Prints nothing the first time and its separator ever after. */
final class Joiner implements Callable, Attributed {
    private final Object separator;
    private boolean used;

    Joiner(Object separator) {
        this.separator = separator;
    }

    @Override
    public String name() {
        return "joiner";
    }

    @Override
    public Object call(Rendering rendering, Arguments arguments) {
        Parameters.of("joiner", "").bind(arguments);
        boolean isFirst = !used;
        used = true;
        return isFirst ? "" : separator;
    }

    @Override
    public @Nullable Object attribute(Rendering rendering, String name) {
        return switch (name) {
            case "sep" -> separator;
            case "used" -> used;
            default -> null;
        };
    }
}
