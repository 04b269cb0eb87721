package roselle.model.weights;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import roselle.backend.Device;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** Where a decoder's numbers go when it is loaded: to a device, or, to learn what that takes, nowhere. */
public interface Store {
    Buffer allocate(DataType type, long elements);

    Buffer constants(float[] values);

    /** {@link Device#ones}. */
    Rows ones(int columns);

    Weight load(String name, int matrices, List<StoredMatrix> blocks);

    /** Whether a shared expert that is as the others are shall be the last of their stack. */
    boolean stacksSharedExperts();

    /** A stack with one more matrix, whose rows are those of {@code shared} and which every row is multiplied with. */
    default Weight loadWithShared(String name, int matrices, List<StoredMatrix> blocks, List<StoredMatrix> shared) {
        var all = new ArrayList<>(blocks);
        all.addAll(shared);
        return load(name, matrices + 1, all);
    }

    /** A matrix whose rows are only looked up. */
    Weight loadTable(String name, StoredMatrix table);

    /** A device; {@code loaded} hears the bytes of each matrix that it has taken, as the checkpoint stores it. */
    static Store of(Device device, LongConsumer loaded) {
        return new Store() {
            @Override
            public Buffer allocate(DataType type, long elements) {
                return device.allocate(type, elements);
            }

            @Override
            public Buffer constants(float[] values) {
                return device.constants(values);
            }

            @Override
            public Rows ones(int columns) {
                return device.ones(columns);
            }

            @Override
            public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
                Weight weight = device.load(name, matrices, blocks);
                long bytes = 0;
                for (StoredMatrix block : blocks) {
                    bytes += block.bytes();
                }
                loaded.accept(bytes);
                return weight;
            }

            @Override
            public boolean stacksSharedExperts() {
                return device.stacksSharedExperts();
            }

            @Override
            public Weight loadTable(String name, StoredMatrix table) {
                Weight weight = device.loadTable(name, table);
                loaded.accept(table.bytes());
                return weight;
            }
        };
    }
}
