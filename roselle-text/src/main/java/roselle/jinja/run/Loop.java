package roselle.jinja.run;

import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Attributed;
import roselle.jinja.value.BoundMethod;
import roselle.jinja.value.Callable;
import roselle.jinja.value.Comparison;
import roselle.jinja.value.Generator;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Parameters;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Sized;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Undefined;

/** The variable {@code loop}: where a loop stands, and the loop itself where it is recursive. */
public final class Loop implements Callable, Attributed, Sized {
    /** Runs the loop's body over other members. */
    public interface Recursion {
        String run(Rendering rendering, Object members, int depth);
    }

    private final Rendering rendering;
    private final Object iterable;
    private final @Nullable Recursion recursion;
    private final int depth0;
    private Iterator<Object> members;
    private int index0 = -1;
    private int length = -1;
    private @Nullable Object before;
    private @Nullable Object current;
    private @Nullable Object after;
    private @Nullable Object lastChanged;

    public Loop(Rendering rendering, Object iterable, @Nullable Recursion recursion, int depth0) {
        this.rendering = rendering;
        this.iterable = iterable;
        this.recursion = recursion;
        this.depth0 = depth0;
        members = Iteration.over(rendering, iterable);
    }

    /** The next member, or null at the end. */
    @Nullable
    public Object advance() {
        var next = peek();
        if (next == null) {
            return null;
        }
        after = null;
        index0++;
        before = current;
        current = next;
        return next;
    }

    @Override
    public int length() {
        if (length < 0) {
            length = Iteration.length(iterable);
        }
        if (length < 0) {
            var rest = Iteration.list(rendering, members());
            members = rest.iterator();
            length = rest.size() + index0 + 1 + (after == null ? 0 : 1);
        }
        return length;
    }

    @Override
    public String name() {
        return "loop";
    }

    @Override
    public String typeName() {
        return "LoopContext";
    }

    @Override
    public String representation() {
        return "<LoopContext " + (index0 + 1) + "/" + length() + ">";
    }

    @Override
    public Object call(Rendering unused, Arguments arguments) {
        if (recursion == null) {
            throw new TemplateFault("the loop must be marked 'recursive' to be called");
        }
        var bound = Parameters.of("loop", "iterable").bind(arguments);
        return recursion.run(rendering, bound.at(0), depth0 + 1);
    }

    @Override
    public @Nullable Object attribute(Rendering unused, String name) {
        return switch (name) {
            case "index" -> index0 + 1L;
            case "index0" -> (long) index0;
            case "first" -> index0 == 0;
            case "last" -> peek() == null;
            case "length" -> (long) length();
            case "revindex" -> (long) length() - index0;
            case "revindex0" -> length() - index0 - 1L;
            case "depth" -> depth0 + 1L;
            case "depth0" -> (long) depth0;
            case "previtem" -> previous();
            case "nextitem" -> following();
            case "cycle" -> new BoundMethod(name, this, (_, _, arguments) -> cycle(arguments.positional()));
            case "changed" -> new BoundMethod(name, this, (_, _, arguments) -> changed(arguments.positional()));
            default -> null;
        };
    }

    private Generator members() {
        return new Generator("loop", members);
    }

    private @Nullable Object peek() {
        if (after == null && members.hasNext()) {
            after = members.next();
        }
        return after;
    }

    private Object previous() {
        return index0 == 0 || before == null ? new Undefined("there is no previous item") : before;
    }

    private Object following() {
        var next = peek();
        return next == null ? new Undefined("there is no next item") : next;
    }

    private Object cycle(List<Object> items) {
        if (items.isEmpty()) {
            throw new TemplateFault("loop.cycle() needs at least one item");
        }
        return items.get(index0 % items.size());
    }

    private Object changed(List<Object> values) {
        var now = new Tuple(List.copyOf(values));
        boolean isSame = lastChanged != null && Comparison.equal(rendering, lastChanged, now);
        lastChanged = now;
        return !isSame;
    }
}
