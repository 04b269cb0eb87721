package roselle.jinja.value;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** A filter, a test or a method that the language brings along. */
public interface Builtin {
    /**
     * Applies it.
     *
     * @param subject the filtered or tested value, or the object of the method
     */
    Object apply(Rendering rendering, Object subject, Arguments arguments);

    /** A built-in after its arguments were matched with its parameters. */
    interface Body {
        Object apply(Rendering rendering, Object subject, Bound arguments);
    }

    /** A method whose object is a string. */
    interface TextBody {
        Object apply(Rendering rendering, String subject, Bound arguments);
    }

    /** A method whose object is read as a string, at the price of reading it. */
    static Body onText(TextBody body) {
        return (rendering, subject, arguments) -> {
            String text = PythonText.string(rendering, subject);
            rendering.charge(text.length());
            return body.apply(rendering, text, arguments);
        };
    }

    /** Built-ins by name, while they are collected. */
    final class Table {
        private final Map<String, Builtin> builtins = new HashMap<>();

        /** Adds one whose parameters may be named; see {@link Parameters#of}. */
        public Table named(String name, String parameters, Body body) {
            return add(name, Parameters.of(name, parameters), body);
        }

        /** Adds one whose parameters have positions only. */
        public Table positional(String name, String parameters, Body body) {
            return add(name, Parameters.positional(name, parameters), body);
        }

        /** Adds a filter that takes any value and reads it as a string. */
        public Table text(String name, String parameters, TextBody body) {
            return named(name, parameters, onText(body));
        }

        /** Adds one that matches its arguments itself. */
        public Table raw(String name, Builtin builtin) {
            builtins.put(name, builtin);
            return this;
        }

        public Table alias(String name, String other) {
            return raw(name, Objects.requireNonNull(builtins.get(other)));
        }

        public Table all(Map<String, Builtin> others) {
            builtins.putAll(others);
            return this;
        }

        public Map<String, Builtin> build() {
            return Map.copyOf(builtins);
        }

        private Table add(String name, Parameters parameters, Body body) {
            return raw(
                    name,
                    (rendering, subject, arguments) -> body.apply(rendering, subject, parameters.bind(arguments)));
        }
    }
}
