package roselle.jinja.value;

/** A value that a template may call. */
public interface Callable {
    /** What error messages call it. */
    String name();

    Object call(Rendering rendering, Arguments arguments);

    /** Python's name of its type. */
    default String typeName() {
        return "function";
    }

    /** How it is printed. */
    default String representation() {
        return "<function " + name() + ">";
    }
}
