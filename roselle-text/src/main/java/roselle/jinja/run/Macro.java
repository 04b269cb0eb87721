package roselle.jinja.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Attributed;
import roselle.jinja.value.Callable;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.None;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Undefined;

/** A macro, or the body of a {@code call} block, together with the variables around its definition. */
public final class Macro implements Callable, Attributed {
    /**
     * What all macros of one definition share.
     *
     * @param defaults an evaluator per parameter; those without default yield an undefined value
     * @param slots of the parameters, then of caller, kwargs and varargs, each -1 where it is not used
     * @param height levels of code in the body
     */
    public record Definition(
            String name,
            List<String> parameters,
            List<Evaluator> defaults,
            List<Integer> slots,
            int size,
            int height,
            Action entry,
            Action body) {
        boolean takes(int special) {
            return slots.get(parameters.size() + special) >= 0;
        }
    }

    static final int CALLER = 0;
    static final int KEYWORDS = 1;
    static final int REST = 2;
    private static final Undefined NO_CALLER = new Undefined("no caller defined");

    private final Definition definition;
    private final Activation outer;

    public Macro(Definition definition, Activation outer) {
        this.definition = definition;
        this.outer = outer;
    }

    @Override
    public String name() {
        return definition.name();
    }

    @Override
    public String typeName() {
        return "Macro";
    }

    @Override
    public String representation() {
        return "<Macro '" + name() + "'>";
    }

    @Override
    public Object call(Rendering rendering, Arguments arguments) {
        rendering.enter(definition.height());
        var activation = new Activation(rendering, outer, definition.size());
        bind(activation, arguments);
        int mark = rendering.output().length();
        definition.body().execute(activation);
        rendering.leave(definition.height());
        return rendering.cut(mark);
    }

    @Override
    public @Nullable Object attribute(Rendering rendering, String name) {
        return switch (name) {
            case "name" -> definition.name().isEmpty() ? None.NONE : definition.name();
            case "arguments" -> new Tuple(List.copyOf(definition.parameters()));
            case "caller" -> definition.takes(CALLER) || hasExplicitCaller();
            case "catch_kwargs" -> definition.takes(KEYWORDS);
            case "catch_varargs" -> definition.takes(REST);
            case "explicit_caller" -> hasExplicitCaller();
            default -> null;
        };
    }

    private boolean hasExplicitCaller() {
        return definition.parameters().contains("caller");
    }

    private void bind(Activation activation, Arguments arguments) {
        var parameters = definition.parameters();
        var named = new LinkedHashMap<>(arguments.named());
        int given = Math.min(arguments.positional().size(), parameters.size());
        var values = new Object[parameters.size()];
        for (int i = 0; i < parameters.size(); i++) {
            values[i] = i < given ? arguments.positional().get(i) : named.remove(parameters.get(i));
        }
        bindSpecials(activation, arguments, named);
        definition.entry().execute(activation);
        for (int i = 0; i < values.length; i++) {
            activation.set(definition.slots().get(i), values[i]);
        }
        for (int i = 0; i < values.length; i++) {
            if (values[i] == null) {
                activation.set(
                        definition.slots().get(i), definition.defaults().get(i).evaluate(activation));
            }
        }
    }

    private void bindSpecials(Activation activation, Arguments arguments, Map<String, Object> named) {
        int count = definition.parameters().size();
        if (definition.takes(CALLER)) {
            var caller = named.remove("caller");
            activation.set(definition.slots().get(count + CALLER), caller == null ? NO_CALLER : caller);
        }
        if (definition.takes(KEYWORDS)) {
            var rest = new Dictionary(named.size());
            named.forEach(rest::put);
            activation.set(definition.slots().get(count + KEYWORDS), rest);
        } else if (!named.isEmpty()) {
            throw new TemplateFault("macro '" + name() + "' takes no keyword argument '"
                    + named.keySet().iterator().next() + "'");
        }
        var positional = arguments.positional();
        if (definition.takes(REST)) {
            var rest = positional.subList(Math.min(count, positional.size()), positional.size());
            activation.set(definition.slots().get(count + REST), new Tuple(List.copyOf(rest)));
        } else if (positional.size() > count) {
            throw new TemplateFault("macro '" + name() + "' takes not more than " + count + " argument(s)");
        }
    }
}
