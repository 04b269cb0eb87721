package roselle.backend;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import roselle.tensor.DataType;

/** Opens the devices of one kind; the engine finds providers by {@link java.util.ServiceLoader}, on the module or class path. */
public interface BackendProvider {
    /** What a device's name begins with: {@code cuda} of {@code cuda:1}. */
    String kind();

    /** How fast this kind is beside others: {@code auto} takes the highest that is there; the CPU is 0. */
    int preference();

    /** Why this machine has no device of this kind, as a sentence; empty where it has one. */
    Optional<String> unavailable();

    /** Why the first device that is there cannot be used as things stand, as a sentence; empty where it can. */
    default Optional<String> unusable() {
        return Optional.empty();
    }

    /** What {@link DeviceOptions#cpu} may be, {@code auto} first; empty where the kind has one path. */
    default List<String> paths() {
        return List.of();
    }

    /** What {@link DeviceOptions#compute} may be, {@code auto} first. */
    List<String> computeTypes();

    /** Whether a device with these options has a faster type than {@code f32} that its products can round to. */
    default boolean rounds(DeviceOptions options) {
        return true;
    }

    /** How a device with these options would compute products with weights of these types, that of most bytes first, or of any, and why so; no device is opened. */
    default String describe(DeviceOptions options, Collection<DataType> types) {
        return kind();
    }

    /**
     * Opens a device.
     *
     * @param index which one, from 0
     * @param weights of the model that it is opened for
     * @throws roselle.api.DeviceException if it cannot be used
     * @throws roselle.api.InvalidRequestException if it has no such path or type
     */
    Device open(int index, DeviceOptions options, ModelWeights weights);
}
