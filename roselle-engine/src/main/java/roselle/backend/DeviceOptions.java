package roselle.backend;

import java.util.Locale;
import roselle.api.InvalidRequestException;

/**
 * Where a model runs. What the kernels and types are called is for the backend to say: see {@link BackendProvider#paths} and
 * {@link BackendProvider#computeTypes}.
 *
 * @param name {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:1}
 * @param threads of the CPU backend; 0 for one per core, fewer where a thread would have less than 8 MiB of weights
 * @param cpu how the CPU multiplies: {@code vector}, {@code avx2}, {@code avx512}, {@code vnni}, {@code bf16}, {@code amx}
 *     or {@code auto}
 * @param compute what products round their factors to: {@code f32}, {@code bf16}, {@code f16}, {@code int8}, {@code fp8}, or
 *     {@code auto}, which a processor measures once for quantized and bf16 weights
 */
public record DeviceOptions(String name, int threads, String cpu, String compute) {
    /** What leaves a choice to the backend. */
    public static final String AUTO = "auto";

    /** Threads meet some fifty times in a step: more than the processors run at a time only wait for each other. */
    private static final int MAX_THREADS = Math.max(64, 4 * Runtime.getRuntime().availableProcessors());

    public static final DeviceOptions DEFAULT = new DeviceOptions(AUTO, 0);

    public DeviceOptions {
        name = name.toLowerCase(Locale.ROOT);
        cpu = cpu.toLowerCase(Locale.ROOT);
        compute = compute.toLowerCase(Locale.ROOT);
        if (threads < 0 || threads > MAX_THREADS) {
            throw new InvalidRequestException("threads is " + threads + ": it must be between 0 and " + MAX_THREADS);
        }
    }

    public DeviceOptions(String name, int threads) {
        this(name, threads, AUTO, AUTO);
    }
}
