package roselle.grammar.schema;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What encloses a value: the goals that the value may meet, and the shape of the object or array around it for each of them. The
 * stack of a text is a list of contexts.
 */
final class Context {
    final @Nullable Context outer; // null around the whole text
    final Formula[] goals;
    final List<Shape.Outcome> outcomes; // empty around the whole text
    final Extras extras; // of the object around
    final @Nullable Capture mark; // where the value begins, if it is wanted
    final int depth;
    final boolean isDetached; // whatever stands around the value

    /** What the value may begin with; made when first asked for, perhaps by two threads alike. */
    volatile @Nullable Reading reading;

    /** States and inner contexts that have been made here, by what tells them apart. */
    final Map<Object, Object> made = new HashMap<>(4);

    Context(
            @Nullable Context outer,
            Formula[] goals,
            List<Shape.Outcome> outcomes,
            Extras extras,
            @Nullable Capture mark) {
        this.outer = outer;
        this.goals = goals;
        this.outcomes = outcomes;
        this.extras = extras;
        this.mark = mark;
        this.depth = outer == null ? 0 : outer.depth + 1;
        this.isDetached = false;
    }

    private Context(Context outer, Formula[] goals, int depth) {
        this.outer = outer;
        this.goals = goals;
        this.outcomes = List.of();
        this.extras = Extras.NONE;
        this.mark = null;
        this.depth = depth;
        this.isDetached = true;
    }

    /** The context of a value wherever it stands, so deep, with something around it that {@code outer} stands for. */
    static Context detached(Context outer, Formula[] goals, int depth) {
        return new Context(outer, goals, depth);
    }

    /** What was read, as far as it is wanted outside; nothing where reading began with this value. */
    @Nullable
    Capture outside(@Nullable Capture capture) {
        return Capture.START.equals(mark) ? null : capture;
    }

    /** Whether something around this one is wanted. */
    boolean isInMarked() {
        for (Context at = outer; at != null; at = at.outer) {
            if (at.mark != null) {
                return true;
            }
        }
        return false;
    }
}
