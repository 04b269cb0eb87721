package roselle.model.adapter;

import roselle.tensor.Tensor;

/**
 * The two matrices that an adapter has for a module of its model.
 *
 * @param module named as the model's checkpoint names it, without {@code .weight}
 * @param shrink {@code [rank, inputs]}
 * @param expand {@code [outputs, rank]}
 */
record StoredPair(String module, Tensor shrink, Tensor expand, float scale) {}
