package roselle.server.pool;

/**
 * What a pool has and has done.
 *
 * @param budgetBytes that all loaded models may take together; 0 while nobody knows what the machine has
 * @param heldBytes that they take
 * @param loads of models that succeeded
 * @param failures loads that did not
 * @param evictions models that went for another
 * @param moves how often pages of a model were given back or taken
 */
public record PoolTotals(long budgetBytes, long heldBytes, long loads, long failures, long evictions, long moves) {}
