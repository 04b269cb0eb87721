package roselle.execution;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.huggingface.SafetensorsWriter;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.model.LoadPlan;
import roselle.model.architecture.Architectures;
import roselle.tensor.Tensor;

/** A copy of a model with another configuration or other tensors. */
final class AlteredModel {
    private AlteredModel() {}

    static void copy(Path model, Path folder, String config, UnaryOperator<List<Tensor>> tensors) throws IOException {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            var all = new ArrayList<>(checkpoint.tensors().values());
            Files.write(folder.resolve("model.safetensors"), SafetensorsWriter.toBytes(tensors.apply(all)));
        }
        Files.writeString(folder.resolve("config.json"), config);
    }

    /** What happens to the bytes of a tensor. */
    interface Change {
        void apply(MemorySegment data);
    }

    /** A copy of which one tensor has other bytes; where it has fewer than a change writes, some behind it are lost. */
    static void change(Path model, Path folder, String name, Change change) throws IOException {
        copy(model, folder, Files.readString(model.resolve("config.json")), tensors -> {
            tensors.replaceAll(tensor -> tensor.name().equals(name) ? changed(tensor, change) : tensor);
            return tensors;
        });
    }

    private static Tensor changed(Tensor tensor, Change change) {
        long size = tensor.data().byteSize();
        var data = MemorySegment.ofArray(Arrays.copyOf(tensor.data().toArray(ValueLayout.JAVA_BYTE), (int) size + 4));
        change.apply(data);
        return new Tensor(tensor.name(), tensor.type(), tensor.shape(), data.asSlice(0, size));
    }

    /** Reads the configuration and plans the memory, as an engine does before it loads a weight; nothing is repacked. */
    static LoadPlan plan(Path folder) {
        try (Checkpoint checkpoint = Checkpoints.open(folder);
                var device = new CpuDevice(CpuOptions.of(1).with(CpuPath.VECTOR))) {
            return LoadPlan.of(checkpoint, Architectures.read(checkpoint), device);
        }
    }
}
