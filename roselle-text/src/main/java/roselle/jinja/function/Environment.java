package roselle.jinja.function;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.jinja.value.Names;
import roselle.jinja.value.Rendering;

/** The caller's variables, each read when it is first asked for, and behind them the functions that every template may call. */
public final class Environment implements Names {
    private final Map<String, ?> variables;
    private final Map<String, Object> imported = new HashMap<>();

    public Environment(Map<String, ?> variables) {
        this.variables = variables;
    }

    @Override
    public @Nullable Object find(Rendering rendering, String name) {
        var value = imported.get(name);
        if (value != null) {
            return value;
        }
        if (!variables.containsKey(name)) {
            return Globals.find(name);
        }
        var read = Variables.read(rendering, name, variables.get(name));
        imported.put(name, read);
        return read;
    }
}
