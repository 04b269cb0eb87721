package roselle.model.weights;

import java.util.List;
import roselle.backend.Device;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** Keeps nothing and counts what a device would take for the constants and weights that it is given. */
public final class CountingStore implements Store {
    private final Device device;
    private long bytes;

    private record NoBuffer(DataType type, long elements) implements Buffer {}

    private record NoWeight(String name, int matrices, int rows, int columns) implements Weight {}

    public CountingStore(Device device) {
        this.device = device;
    }

    public long bytes() {
        return bytes;
    }

    @Override
    public Buffer allocate(DataType type, long elements) {
        return new NoBuffer(type, elements);
    }

    @Override
    public Buffer constants(float[] values) {
        bytes += (long) values.length * Float.BYTES;
        return allocate(DataType.F32, values.length);
    }

    @Override
    public Rows ones(int columns) {
        return new Rows(constants(new float[columns]), 0, columns, 0);
    }

    @Override
    public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
        bytes += device.loadBytes(matrices, blocks);
        long rows = blocks.stream().mapToLong(block -> block.shape().rows()).sum() / matrices;
        long columns = blocks.getFirst().shape().columns();
        return new NoWeight(name, matrices, Math.toIntExact(rows), Math.toIntExact(columns));
    }

    @Override
    public boolean stacksSharedExperts() {
        return device.stacksSharedExperts();
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        bytes += device.tableBytes(table);
        int rows = Math.toIntExact(table.shape().rows());
        return new NoWeight(name, 1, rows, Math.toIntExact(table.shape().columns()));
    }
}
