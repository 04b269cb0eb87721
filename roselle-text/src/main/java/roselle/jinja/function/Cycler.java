package roselle.jinja.function;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Attributed;
import roselle.jinja.value.BoundMethod;
import roselle.jinja.value.None;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;

/** Walks through its items in a circle. */
final class Cycler implements Attributed {
    private final List<Object> items;
    private int position;

    Cycler(List<Object> items) {
        if (items.isEmpty()) {
            throw new TemplateFault("cycler() needs at least one item");
        }
        this.items = items;
    }

    @Override
    public @Nullable Object attribute(Rendering rendering, String name) {
        return switch (name) {
            case "current" -> items.get(position);
            case "items" -> new Tuple(items);
            case "pos" -> (long) position;
            case "next" -> new BoundMethod(name, this, (_, _, _) -> next());
            case "reset" -> new BoundMethod(name, this, (_, _, _) -> reset());
            default -> null;
        };
    }

    private Object next() {
        var item = items.get(position);
        position = (position + 1) % items.size();
        return item;
    }

    private Object reset() {
        position = 0;
        return None.NONE;
    }
}
