package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;

/**
 * The products of experts: what each of the chosen ones makes of a row.
 *
 * @param both what the first product leaves, a row per choice: gates, then ups
 * @param gates of {@code both}; the gated numbers take their place
 * @param ups of {@code both}; null where experts have no gates: what the first product leaves is activated already
 * @param outputs what the second product leaves, a row per choice
 */
public record ExpertProducts(
        ExpertLinear gateAndUp,
        Rows both,
        Rows gates,
        @Nullable Rows ups,
        Gate gate,
        ExpertLinear down,
        Rows outputs) {}
