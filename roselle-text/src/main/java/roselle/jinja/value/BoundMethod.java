package roselle.jinja.value;

/** A method together with its object, as {@code x.upper} is before it is called. */
public record BoundMethod(String name, Object owner, Builtin method) implements Callable {
    @Override
    public Object call(Rendering rendering, Arguments arguments) {
        return method.apply(rendering, owner, arguments);
    }
}
