package roselle.backend.operation;

import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvGroup;

/**
 * A selective scan (Mamba; Gu and Dao, 2023): each channel has a state {@code h} of some numbers, which begins as zeros, and for each
 * token {@code t = softplus(time + timeBias); h' = e^(rate t) h + t x b; output = sum of c h' + skip x}, with {@code b} and {@code c},
 * a number for each of the state's, that all channels share.
 *
 * @param group index of the {@link KvGroup} whose states these are
 * @param layer index among the layers of that group
 * @param rate F32, {@code [stateSize, channels]}, below 0
 * @param timeBias F32, {@code [channels]}
 * @param skip F32, {@code [channels]}
 */
public record SelectiveScan(int group, int layer, Buffer rate, Buffer timeBias, Buffer skip) {
    public int channels() {
        return Math.toIntExact(skip.elements());
    }

    /** Numbers of a channel's state. */
    public int stateSize() {
        return Math.toIntExact(rate.elements() / skip.elements());
    }

    /** Numbers that a token leaves in its page: {@code t} and {@code t x} of each channel, and {@code b}. */
    public static int rowSize(int channels, int stateSize) {
        return Math.addExact(Math.multiplyExact(2, channels), stateSize);
    }

    /** The group of layers with such states, {@code [stateSize, channels]} each. */
    public static KvGroup kvGroup(int channels, int stateSize) {
        return KvGroup.ofState("scan", 1, rowSize(channels, stateSize), Math.multiplyExact(channels, stateSize));
    }
}
