package roselle.backend.operation;

/**
 * The heads of an attention layer.
 *
 * @param queryHeads heads that ask
 * @param keyHeads heads of keys and values; query head {@code h} reads key head {@code h * keyHeads / queryHeads}
 * @param keySize numbers of a query and of a key
 * @param valueSize numbers of a value
 */
public record HeadShape(int queryHeads, int keyHeads, int keySize, int valueSize) {
    public HeadShape {
        if (queryHeads < 1 || keyHeads < 1 || keySize < 1 || valueSize < 1 || queryHeads % keyHeads != 0) {
            throw new IllegalArgumentException("impossible heads: " + queryHeads + " query heads on " + keyHeads
                    + " key heads of " + keySize + " and " + valueSize);
        }
    }
}
