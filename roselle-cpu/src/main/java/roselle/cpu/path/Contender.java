package roselle.cpu.path;

import java.util.Locale;
import roselle.cpu.machine.Compute;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;

/** Instructions, and what products by them round their factors to. */
record Contender(CpuPath path, Compute compute) {
    boolean isOfBytes() {
        return compute == Compute.INT8;
    }

    /** What has a device multiply so. */
    CpuOptions of(CpuOptions options) {
        return options.with(path)
                .with(
                        switch (compute) {
                            case INT8 -> Precision.INT8;
                            case SPLIT -> Precision.SPLIT;
                            case F32, BF16 -> Precision.AUTO;
                        });
    }

    /** One word. */
    String label() {
        return path.label() + "/" + compute.name().toLowerCase(Locale.ROOT);
    }
}
