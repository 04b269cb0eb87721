package roselle.jinja;

import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import roselle.jinja.Symbols.FunctionScope;
import roselle.jinja.Symbols.Slot;
import roselle.jinja.run.Action;
import roselle.jinja.run.Activation;

/**
 * Where code is compiled for.
 *
 * @param symbols the names it sees
 * @param soft whether it may never run, so that unknown filters are faults only when they are reached
 * @param inLoop whether {@code break} has something to end
 */
record Scope(Symbols symbols, boolean soft, boolean inLoop) {
    Scope softened() {
        return new Scope(symbols, true, inLoop);
    }

    /** A scope inside this one, in the same activation. */
    Scope inner() {
        return new Scope(new Symbols(symbols, symbols.function()), false, inLoop);
    }

    /** A scope inside this one with an activation of its own. */
    Scope function() {
        return new Scope(new Symbols(symbols, new FunctionScope(symbols.function())), false, false);
    }

    Scope loop() {
        return new Scope(symbols, soft, true);
    }

    /** How far out the activation of a slot is. */
    int distance(Slot slot) {
        return symbols.function().distanceTo(slot.function());
    }

    /** What fills the scope's slots when it is entered; complete only after its names were analyzed. */
    Action entry() {
        var fills = new ArrayList<Action>();
        symbols.loads().forEach((slot, load) -> {
            int index = slot.index();
            switch (load) {
                case Symbols.Parameter _ -> {}
                case Symbols.Empty _ -> fills.add(activation -> fill(activation, index, null));
                case Symbols.Resolve(String name) ->
                    fills.add(activation ->
                            fill(activation, index, activation.rendering().resolve(name)));
                case Symbols.Alias(Slot outer) -> {
                    int distance = distance(outer);
                    fills.add(activation ->
                            fill(activation, index, activation.outer(distance).get(outer.index())));
                }
            }
        });
        return Action.sequence(fills.toArray(new Action[0]));
    }

    /** What empties the scope's slots when it is left. */
    Action exit() {
        int[] indices = symbols.loads().keySet().stream().mapToInt(Slot::index).toArray();
        return activation -> {
            for (int index : indices) {
                activation.set(index, null);
            }
            return Action.Completion.NORMAL;
        };
    }

    private static Action.Completion fill(Activation activation, int index, @Nullable Object value) {
        activation.set(index, value);
        return Action.Completion.NORMAL;
    }
}
