package roselle.jinja.function;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Callable;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Namespace;
import roselle.jinja.value.Parameters;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Range;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Undefined;

/** The functions that every template may call. */
final class Globals {
    private static final Map<String, Callable> ALL = functions();

    private Globals() {}

    static @Nullable Object find(String name) {
        return ALL.get(name);
    }

    /** A function of Java under a name of the template's. */
    private record Function(String name, Body body) implements Callable {
        interface Body {
            Object call(Rendering rendering, Arguments arguments);
        }

        @Override
        public Object call(Rendering rendering, Arguments arguments) {
            return body.call(rendering, arguments);
        }
    }

    private static Map<String, Callable> functions() {
        var functions = new LinkedHashMap<String, Callable>();
        define(functions, "range", Globals::range);
        define(functions, "dict", Globals::dictionary);
        define(functions, "namespace", (rendering, arguments) -> new Namespace(dictionary(rendering, arguments)));
        define(
                functions,
                "joiner",
                (_, arguments) -> new Joiner(
                        Parameters.of("joiner", "sep?").bind(arguments).or(0, ", ")));
        define(functions, "cycler", Globals::cycler);
        define(functions, "raise_exception", Globals::raise);
        define(
                functions,
                "strftime_now",
                (rendering, arguments) -> DateText.format(
                        rendering,
                        Parameters.of("strftime_now", "format").bind(arguments).text(0)));
        return Map.copyOf(functions);
    }

    private static void define(Map<String, Callable> functions, String name, Function.Body body) {
        functions.put(name, new Function(name, body));
    }

    private static Object range(Rendering rendering, Arguments arguments) {
        var bound = Parameters.positional("range", "start stop? step?").bind(arguments);
        long first = number(bound, 0);
        return bound.has(1)
                ? new Range(first, number(bound, 1), bound.has(2) ? number(bound, 2) : 1)
                : new Range(0, first, 1);
    }

    private static long number(Bound bound, int index) {
        var value = bound.at(index);
        if (value instanceof Undefined || !Numbers.isInteger(value)) {
            throw bound.wrong(index, "an integer");
        }
        if (!Numbers.isSmall(value)) {
            throw new TemplateFault("range() takes integers of 64 bits");
        }
        return Numbers.small(value);
    }

    private static Dictionary dictionary(Rendering rendering, Arguments arguments) {
        if (arguments.positional().size() > 1) {
            throw new TemplateFault("dict() takes at most one positional argument");
        }
        var dictionary = new Dictionary();
        for (Object initial : arguments.positional()) {
            fill(rendering, dictionary, initial);
        }
        arguments.named().forEach(dictionary::put);
        return dictionary;
    }

    private static void fill(Rendering rendering, Dictionary dictionary, Object initial) {
        if (initial instanceof Dictionary other) {
            rendering.chargeElements(other.size());
            other.entries().forEach(entry -> dictionary.put(rendering, entry.key(), entry.value()));
            return;
        }
        for (var members = Iteration.over(rendering, initial); members.hasNext(); ) {
            var pair = Iteration.list(rendering, members.next());
            if (pair.size() != 2) {
                throw new TemplateFault("dict() needs pairs, and got one of length " + pair.size());
            }
            dictionary.put(rendering, pair.get(0), pair.get(1));
        }
    }

    private static Object cycler(Rendering rendering, Arguments arguments) {
        if (!arguments.named().isEmpty()) {
            throw new TemplateFault("cycler() takes no keyword arguments");
        }
        return new Cycler(List.copyOf(arguments.positional()));
    }

    private static Object raise(Rendering rendering, Arguments arguments) {
        var message =
                Parameters.of("raise_exception", "message").bind(arguments).at(0);
        throw new TemplateFault(PythonText.string(rendering, message));
    }
}
