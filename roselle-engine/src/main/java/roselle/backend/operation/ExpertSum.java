package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;

/**
 * What becomes of the products of experts.
 *
 * @param adds whether the output keeps what it holds
 * @param shared what a shared expert gave, which is added as {@link Operations#addGated} does; null where there is none
 * @param sharedGate its gate
 */
public record ExpertSum(
        Rows output,
        float scale,
        boolean adds,
        @Nullable Rows shared,
        @Nullable Rows sharedGate) {
    public ExpertSum {
        if ((shared == null) != (sharedGate == null)) {
            throw new IllegalArgumentException("a shared expert without a gate, or a gate without one");
        }
    }

    public ExpertSum(Rows output, float scale, boolean adds) {
        this(output, scale, adds, null, null);
    }
}
