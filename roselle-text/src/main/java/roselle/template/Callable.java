package roselle.template;

/** A value that a template may call. */
interface Callable {
    /** What error messages call it. */
    String name();

    Object call(Rendering rendering, Arguments arguments);
}
