package roselle.cuda.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A file of CUDA C++ from the jar, and the architectures that it is for. */
public enum KernelSource {
    GENERIC_ATTENTION("attention"),
    GENERIC_EXPERTS("gemm"),
    GENERIC_LINEAR("gemm"),
    GENERIC_ROWS("rows"),
    ATTENTION_DECODE_WARP("attention"),
    ATTENTION_DECODE("attention"),
    ATTENTION_PREFILL("attention"),
    ATTENTION_PREFILL_HOPPER("attention"),
    ATTENTION_LATENT("attention"),
    ATTENTION_LATENT_HOPPER("attention"),
    LINEAR_HOPPER("gemm"),
    LINEAR_PROMPT_HOPPER("gemm"),
    LINEAR_PLAIN("gemm"),
    LINEAR_Q8_0("gemm"),
    LINEAR_Q4_0("gemm"),
    LINEAR_Q4_K("gemm"),
    LINEAR_Q5_K("gemm"),
    LINEAR_Q6_K("gemm"),
    LINEAR_MXFP4("gemm"),
    GROUPED_PLAIN("gemm"),
    GROUPED_Q8_0("gemm"),
    GROUPED_Q4_0("gemm"),
    GROUPED_Q4_K("gemm"),
    GROUPED_Q5_K("gemm"),
    GROUPED_Q6_K("gemm"),
    GROUPED_MXFP4("gemm"),
    ROWS("rows"),
    SAMPLE("sampling");

    private static final String ROOT = "/roselle/cuda/kernels/";
    private static final List<String> HEADERS = List.of(
            "attention/attention.cuh",
            "attention/fresh.cuh",
            "attention/heads.cuh",
            "attention/latent.cuh",
            "attention/rope.cuh",
            "common/ampere.cuh",
            "common/elements.cuh",
            "common/hopper.cuh",
            "common/norms.cuh",
            "common/numbers.cuh",
            "common/wgmma.cuh",
            "format/blocks.cuh",
            "format/formats.cuh",
            "gemm/epilogue.cuh",
            "gemm/linear_mma.cuh",
            "gemm/rings.cuh",
            "gemm/sums.cuh",
            "sampling/selection.cuh");

    private final String folder;

    KernelSource(String folder) {
        this.folder = folder;
    }

    /** The file's name. */
    public String file() {
        return name().toLowerCase(Locale.ROOT) + ".cu";
    }

    /** The file's name with its folder, as files include each other. */
    public String path() {
        return folder + "/" + file();
    }

    /** Whether it can be compiled for an architecture such as {@code sm_90a}. */
    public boolean isFor(String architecture) {
        return !name().endsWith("HOPPER") || architecture.equals("sm_90a");
    }

    /** The products of experts with the weights of this source. */
    public KernelSource grouped() {
        return valueOf(name().replace("LINEAR", "GROUPED"));
    }

    /** Whether devices ask for it whatever the model; the others are for some of them alone. */
    public boolean isForEveryModel() {
        return switch (this) {
            case ATTENTION_LATENT,
                    ATTENTION_LATENT_HOPPER,
                    LINEAR_PLAIN,
                    LINEAR_Q8_0,
                    LINEAR_Q4_0,
                    LINEAR_Q4_K,
                    LINEAR_Q5_K,
                    LINEAR_Q6_K,
                    LINEAR_MXFP4,
                    GROUPED_PLAIN,
                    GROUPED_Q8_0,
                    GROUPED_Q4_0,
                    GROUPED_Q4_K,
                    GROUPED_Q5_K,
                    GROUPED_Q6_K,
                    GROUPED_MXFP4 -> false;
            case GENERIC_ATTENTION,
                    GENERIC_EXPERTS,
                    GENERIC_LINEAR,
                    GENERIC_ROWS,
                    ATTENTION_DECODE_WARP,
                    ATTENTION_DECODE,
                    ATTENTION_PREFILL,
                    ATTENTION_PREFILL_HOPPER,
                    LINEAR_HOPPER,
                    LINEAR_PROMPT_HOPPER,
                    ROWS,
                    SAMPLE -> true;
        };
    }

    public String text() {
        return read(path());
    }

    /** The text of each header, by the name under which sources include it. */
    public static Map<String, String> headers() {
        var headers = new LinkedHashMap<String, String>();
        for (String header : HEADERS) {
            headers.put(header, read(header));
        }
        return headers;
    }

    /** All that the machine code depends on, in a fixed order. */
    String allText() {
        return new TreeMap<>(headers()).values() + text();
    }

    private static String read(String file) {
        try (InputStream stream = KernelSource.class.getResourceAsStream(ROOT + file)) {
            if (stream == null) {
                throw new IllegalStateException("the jar has no kernel file " + file);
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new IllegalStateException("cannot read the kernel file " + file, unreadable);
        }
    }
}
