package roselle.jinja.value;

import roselle.jinja.text.TemplateFault;

/**
 * A value that is not there: empty when printed, looped over or asked for its truth, a fault when computed with.
 *
 * @param message what the fault says
 */
public record Undefined(String message) {
    public static Undefined variable(String name) {
        return new Undefined("'" + name + "' is undefined");
    }

    public static Undefined attribute(Object owner, String name) {
        return new Undefined("'" + Types.describe(owner) + "' has no attribute '" + name + "'");
    }

    public static Undefined element(Object owner, Object key) {
        return key instanceof String name
                ? attribute(owner, name)
                : new Undefined(Types.describe(owner) + " has no element " + Types.brief(key));
    }

    public static Undefined unsafe(Object owner, String name) {
        return new Undefined("access to attribute '" + name + "' of '" + Types.name(owner) + "' object is unsafe");
    }

    public TemplateFault fault() {
        return new TemplateFault(message);
    }
}
