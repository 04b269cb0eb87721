package roselle.backend.operation;

import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;

/**
 * A product with the rows of gates and, after them, of ups, and their gated activation.
 *
 * @param both what the product leaves: gates, then ups
 * @param gates of {@code both}; the gated numbers take their place
 * @param ups of {@code both}
 */
public record GatedLinear(Weight gateAndUp, Epilogue epilogue, Rows both, Rows gates, Rows ups, Gate gate) {}
