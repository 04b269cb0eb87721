package roselle.model;

/**
 * Where a layer keeps its pages.
 *
 * @param group index of the group
 * @param layer index among the layers of that group
 */
record LayerPlace(int group, int layer) {}
