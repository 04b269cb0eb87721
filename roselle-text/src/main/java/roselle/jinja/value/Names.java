package roselle.jinja.value;

import org.jspecify.annotations.Nullable;

/** What names mean that a template uses and does not define. */
public interface Names {
    /** The value of this name, or null where it has none. */
    @Nullable
    Object find(Rendering rendering, String name);
}
