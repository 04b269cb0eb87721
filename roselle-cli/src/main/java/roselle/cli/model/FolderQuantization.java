package roselle.cli.model;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import roselle.quantization.folder.FolderConversion;
import roselle.quantization.folder.FolderPlan;
import roselle.quantization.folder.FolderTensor;
import roselle.quantization.folder.FolderType;

/** What {@code roselle quantize} says of a folder of safetensors that it writes, or would write. */
record FolderQuantization(FolderPlan plan, FolderType type) {
    void list(PrintWriter out) {
        plan.tensors().forEach(tensor -> out.println(describe(tensor)));
        out.println(summary());
        out.flush();
    }

    void write(Path target, int threads, PrintWriter out, PrintWriter err) throws IOException {
        long start = System.nanoTime();
        int count = plan.tensors().size();
        new FolderConversion(plan, target, threads)
                .run((index, tensor, isDone) -> QuantizeCommand.tellBegun(err, index, count, describe(tensor), isDone));
        QuantizeCommand.tellWritten(out, target, summary(), start);
    }

    private String describe(FolderTensor tensor) {
        return QuantizeCommand.line(
                tensor.source().name(),
                tensor.source().shape(),
                tensor.source().type().label()
                        + (tensor.isQuantized() ? " → " + type.name().toLowerCase(Locale.ROOT) : ""),
                tensor.bytes());
    }

    private String summary() {
        long numbers = plan.tensors().stream()
                .mapToLong(tensor -> tensor.source().shape().elements())
                .sum();
        return QuantizeCommand.summary(plan.bytes(), plan.tensors().size(), numbers);
    }
}
