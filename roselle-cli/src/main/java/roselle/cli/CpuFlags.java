package roselle.cli;

import picocli.CommandLine.Option;
import roselle.cpu.CpuOptions;
import roselle.cpu.CpuPath;
import roselle.cpu.Precision;

/** The options that say how the CPU multiplies. */
final class CpuFlags {
    @Option(
            names = "--cpu",
            paramLabel = "PATH",
            defaultValue = "${env:ROSELLE_CPU:-auto}",
            description =
                    "auto, vector, avx2, avx512, vnni, bf16 or amx; default: the environment's ROSELLE_CPU, or auto.")
    private String path = "auto";

    @Option(
            names = "--compute",
            paramLabel = "TYPE",
            defaultValue = "auto",
            description =
                    "What products round their factors to: f32, bf16, or auto, which is bf16 for quantized and bf16"
                            + " weights where the processor multiplies it, and on a GPU, which also knows f16; default: ${DEFAULT-VALUE}.")
    private String compute = "auto";

    String path() {
        return path;
    }

    String compute() {
        return compute;
    }

    /** The same as the backend takes it. */
    CpuOptions options(int threads) {
        return CpuOptions.of(threads).with(CpuPath.of(path)).with(Precision.of(compute));
    }
}
