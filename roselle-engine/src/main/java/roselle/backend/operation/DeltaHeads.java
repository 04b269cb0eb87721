package roselle.backend.operation;

import roselle.backend.memory.KvGroup;

/**
 * The heads of a layer with a {@link DeltaRule}.
 *
 * @param keyHeads heads of queries and of keys
 * @param valueHeads heads of values, each with a state; a multiple of the key heads
 * @param keySize numbers of a query and of a key
 * @param valueSize numbers of a value
 * @param takesTurns whether value head {@code h} goes with key head {@code h % keyHeads}, else with
 *     {@code h * keyHeads / valueHeads}
 * @param decaysByChannel whether each number of a key has a decay of its own, else each head has one
 */
public record DeltaHeads(
        int keyHeads, int valueHeads, int keySize, int valueSize, boolean takesTurns, boolean decaysByChannel) {
    /** The name of groups of state spaces. */
    public static final String SPACE = "space";

    public DeltaHeads {
        if (keyHeads < 1 || valueHeads < 1 || keySize < 1 || valueSize < 1 || valueHeads % keyHeads != 0) {
            throw new IllegalArgumentException("impossible heads: " + valueHeads + " value heads on " + keyHeads
                    + " key heads of " + valueSize + " and " + keySize);
        }
        if (decaysByChannel && valueHeads != keyHeads) {
            throw new IllegalArgumentException("decays of channels with " + valueHeads + " value heads on " + keyHeads
                    + " key heads, expected as many");
        }
    }

    /** Heads with a decay each. */
    public DeltaHeads(int keyHeads, int valueHeads, int keySize, int valueSize, boolean takesTurns) {
        this(keyHeads, valueHeads, keySize, valueSize, takesTurns, false);
    }

    /** As many heads of values as of keys, each channel with a decay. */
    public static DeltaHeads ofChannels(int heads, int keySize, int valueSize) {
        return new DeltaHeads(heads, heads, keySize, valueSize, false, true);
    }

    /** Value heads in groups, each with a key head. */
    public DeltaHeads(int keyHeads, int valueHeads, int keySize, int valueSize) {
        this(keyHeads, valueHeads, keySize, valueSize, false);
    }

    /** The {@code index}-th value head that goes with a key head. */
    public int valueHead(int keyHead, int index) {
        return takesTurns ? index * keyHeads + keyHead : keyHead * (valueHeads / keyHeads) + index;
    }

    /** The key head that a value head goes with. */
    public int keyHead(int valueHead) {
        return takesTurns ? valueHead % keyHeads : valueHead / (valueHeads / keyHeads);
    }

    public int keys() {
        return keyHeads * keySize;
    }

    public int values() {
        return valueHeads * valueSize;
    }

    /** Queries, keys and values of a row: the channels of the convolution before the rule. */
    public int channels() {
        return 2 * keys() + values();
    }

    /** Decays of a row. */
    public int decays() {
        return decaysByChannel ? keys() : valueHeads;
    }

    /** Numbers of one head's state. */
    public int headState() {
        return keySize * valueSize;
    }

    /**
     * The group of layers with these heads: a token's keys, its corrections {@code d}, and the sums of {@code g} up to it; where
     * channels have decays of their own, the token's {@code e^g} in the place of sums.
     */
    public KvGroup group(int layers) {
        return group("delta", layers);
    }

    /** The same of layers that are state spaces ({@link DeltaRule.Space}). */
    public KvGroup spaceGroup(int layers) {
        return group(SPACE, layers);
    }

    private KvGroup group(String name, int layers) {
        int row = keys() + values() + decays();
        return KvGroup.ofState(name, layers, row, Math.multiplyExact(valueHeads, headState()));
    }
}
