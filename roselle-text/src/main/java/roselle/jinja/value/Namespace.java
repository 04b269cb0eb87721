package roselle.jinja.value;

import org.jspecify.annotations.Nullable;

/** The one object that a template may change: attributes that outlive loops. */
public record Namespace(Dictionary attributes) implements Attributed {
    @Override
    public @Nullable Object attribute(Rendering rendering, String name) {
        return attributes.find(name);
    }

    public void assign(Rendering rendering, String name, Object value) {
        rendering.chargeElements(attributes.size() / 8);
        attributes.put(name, value);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
