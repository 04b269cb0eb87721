package roselle.jinja.run;

import org.jspecify.annotations.Nullable;
import roselle.jinja.value.Rendering;

/** The variables of a template, macro or recursive loop while it runs. */
public final class Activation {
    private final Rendering rendering;
    private final @Nullable Activation parent;
    private final Object[] slots;

    public Activation(Rendering rendering, @Nullable Activation parent, int size) {
        this.rendering = rendering;
        this.parent = parent;
        slots = new Object[size];
    }

    public Rendering rendering() {
        return rendering;
    }

    /** The value of a slot, or null where nothing was assigned. */
    @Nullable
    public Object get(int index) {
        return slots[index];
    }

    @SuppressWarnings("NullAway") // a slot without a value is null
    public void set(int index, @Nullable Object value) {
        slots[index] = value;
    }

    /** The activation so many functions further out. */
    public Activation outer(int distance) {
        var activation = this;
        for (int i = 0; i < distance && activation.parent != null; i++) {
            activation = activation.parent;
        }
        return activation;
    }
}
