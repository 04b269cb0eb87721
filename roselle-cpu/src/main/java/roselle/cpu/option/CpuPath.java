package roselle.cpu.option;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;

/** How the CPU multiplies: the Vector API, or machine code for what the processor offers. */
public enum CpuPath {
    /** What a model's format is multiplied fastest by, as it was measured; without a measurement the widest. */
    AUTO,
    /** The Vector API alone. */
    VECTOR,
    /** Machine code with AVX2 and FMA: products of float32, and of bytes where those are asked for or chosen. */
    AVX2,
    /** Machine code with AVX-512: products of float32. */
    AVX512,
    /** The same, and products of bytes by AVX512_VNNI: activations are rounded to 8 bits. */
    VNNI,
    /** The same as AVX512, and products of bfloat16 by AVX512_BF16. */
    BF16,
    /**
     * The same, and products of bfloat16, those of attention too, in AMX tiles; of encoders those of float32 weights as well, each of
     * whose numbers is split into two of bfloat16.
     */
    AMX;

    /** The path that a flag names. */
    public static CpuPath of(String name) {
        for (CpuPath path : values()) {
            if (path.label().equals(name.toLowerCase(Locale.ROOT))) {
                return path;
            }
        }
        String known = Arrays.stream(values()).map(CpuPath::label).collect(Collectors.joining(", "));
        throw new InvalidRequestException("the path of the CPU is " + name + ": it must be one of " + known);
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
