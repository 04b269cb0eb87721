package roselle.backend.memory;

/**
 * Layers that keep the same kind of pages and therefore share one page table.
 *
 * @param name for messages: {@code full}, {@code window}, {@code latent}
 * @param layers how many layers write to this group
 * @param heads key/value heads of each layer
 * @param keySize elements of one key
 * @param valueSize elements of one value; 0 where the value is a prefix of the key (latent attention)
 * @param window tokens that a query sees, itself included; 0 where it sees all
 */
public record KvGroup(String name, int layers, int heads, int keySize, int valueSize, int window) {
    public KvGroup {
        if (layers < 1 || heads < 1 || keySize < 1 || valueSize < 0 || window < 0) {
            throw new IllegalArgumentException("impossible group " + name + ": " + layers + " layers, " + heads
                    + " heads of " + keySize + " and " + valueSize + ", window " + window);
        }
    }

    /** Elements that one token adds to this group, all layers together. */
    public long elementsPerToken() {
        return (long) layers * heads * (keySize + valueSize);
    }
}
