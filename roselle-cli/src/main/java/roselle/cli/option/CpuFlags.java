package roselle.cli.option;

import java.util.function.Consumer;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.cli.report.Heading;
import roselle.engine.Devices;

/** The options that say how the CPU multiplies. */
@Heading("Processor")
public final class CpuFlags {
    @Option(
            names = "--cpu",
            paramLabel = "PATH",
            defaultValue = "${env:ROSELLE_CPU:-auto}",
            converter = Path.class,
            description =
                    "auto, vector, avx2, avx512, vnni, bf16 or amx; default: the environment's ROSELLE_CPU, or auto.")
    private String path = "auto";

    @Option(
            names = "--compute",
            paramLabel = "TYPE",
            defaultValue = "auto",
            converter = Rounding.class,
            description =
                    "What products round their factors to: f32, bf16, int8 (on the CPU, of quantized weights), f16 or fp8"
                            + " (on a GPU, fp8 of weights in FP8), or auto: on a GPU bf16, on the CPU what was measured;"
                            + " default: ${DEFAULT-VALUE}.")
    private String compute = "auto";

    /** A name of a path; none, as an empty variable of the environment has it, leaves the choice open. */
    static final class Path implements ITypeConverter<String> {
        @Override
        public String convert(String name) {
            return name.isEmpty() ? "auto" : known(name, Devices::requirePath);
        }
    }

    /** A name of a precision. */
    static final class Rounding implements ITypeConverter<String> {
        @Override
        public String convert(String name) {
            return known(name, Devices::requireComputeType);
        }
    }

    /** A name that one who knows all of them takes; others are a misuse of the command line. */
    private static String known(String name, Consumer<String> knower) {
        try {
            knower.accept(name);
            return name;
        } catch (InvalidRequestException unknown) {
            throw new TypeConversionException(unknown.getMessage());
        }
    }

    public String path() {
        return path;
    }

    public String compute() {
        return compute;
    }

    /** The same for a device. */
    public DeviceOptions on(String device, int threads) {
        return new DeviceOptions(device, threads, path, compute);
    }
}
