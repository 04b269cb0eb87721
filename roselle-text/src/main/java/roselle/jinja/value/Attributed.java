package roselle.jinja.value;

import org.jspecify.annotations.Nullable;

/** An object of the interpreter that has attributes of its own. */
public interface Attributed {
    /** The attribute's value, or null where it has none of this name. */
    @Nullable
    Object attribute(Rendering rendering, String name);
}
