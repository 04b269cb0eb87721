package roselle.cuda.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import roselle.backend.memory.KvType;

/**
 * CUDA C++ that is compiled as a whole: a file from the jar, or an instance of the templates in its headers.
 *
 * @param name of its file, in capitals and without the ending
 * @param folder of its file
 * @param isForEveryModel whether devices ask for it whatever the model; the others are for some of them alone
 * @param instance the text of an instance; empty for a file
 */
public record KernelSource(String name, String folder, boolean isForEveryModel, String instance) {
    public static final KernelSource GENERIC_ATTENTION = ofEveryModel("GENERIC_ATTENTION", "attention");
    public static final KernelSource GENERIC_EXPERTS = ofEveryModel("GENERIC_EXPERTS", "gemm");
    public static final KernelSource GENERIC_LINEAR = ofEveryModel("GENERIC_LINEAR", "gemm");
    public static final KernelSource GENERIC_ROWS = ofEveryModel("GENERIC_ROWS", "rows");
    public static final KernelSource ATTENTION_DECODE_WARP = ofEveryModel("ATTENTION_DECODE_WARP", "attention");
    public static final KernelSource ATTENTION_DECODE = ofEveryModel("ATTENTION_DECODE", "attention");
    public static final KernelSource ATTENTION_DECODE_HOPPER = ofEveryModel("ATTENTION_DECODE_HOPPER", "attention");
    public static final KernelSource ATTENTION_PREFILL = ofEveryModel("ATTENTION_PREFILL", "attention");
    public static final KernelSource ATTENTION_PREFILL_HOPPER = ofEveryModel("ATTENTION_PREFILL_HOPPER", "attention");
    public static final KernelSource ATTENTION_BOTH = ofSomeModels("ATTENTION_BOTH", "attention");
    public static final KernelSource ATTENTION_LATENT = ofSomeModels("ATTENTION_LATENT", "attention");
    public static final KernelSource ATTENTION_LATENT_HOPPER = ofSomeModels("ATTENTION_LATENT_HOPPER", "attention");
    public static final KernelSource CHOSEN_EXPERTS = ofSomeModels("CHOSEN_EXPERTS", "gemm");
    public static final KernelSource DELTA_RULE = ofSomeModels("DELTA_RULE", "state");
    public static final KernelSource GENERIC_STATE = ofSomeModels("GENERIC_STATE", "state");
    public static final KernelSource LINEAR_HOPPER = ofEveryModel("LINEAR_HOPPER", "gemm");
    public static final KernelSource LINEAR_ADAPTED_HOPPER = ofSomeModels("LINEAR_ADAPTED_HOPPER", "gemm");
    public static final KernelSource LINEAR_PROMPT_HOPPER = ofEveryModel("LINEAR_PROMPT_HOPPER", "gemm");
    public static final KernelSource LINEAR_FP8_HOPPER = ofSomeModels("LINEAR_FP8_HOPPER", "gemm");
    public static final KernelSource LINEAR_PROMPT_FP8_HOPPER = ofSomeModels("LINEAR_PROMPT_FP8_HOPPER", "gemm");
    public static final KernelSource LOW_RANK = ofSomeModels("LOW_RANK", "adapter");
    public static final KernelSource ROWS = ofEveryModel("ROWS", "rows");
    public static final KernelSource SAMPLE = ofEveryModel("SAMPLE", "sampling");

    /** Those that take the compiler longest come first, so that none of them is left over when all others are done. */
    private static final List<KernelSource> FILES = List.of(
            LINEAR_HOPPER,
            GENERIC_LINEAR,
            ATTENTION_DECODE,
            LINEAR_PROMPT_HOPPER,
            ATTENTION_DECODE_HOPPER,
            ATTENTION_DECODE_WARP,
            ATTENTION_PREFILL,
            ATTENTION_BOTH,
            SAMPLE,
            ROWS,
            ATTENTION_PREFILL_HOPPER,
            GENERIC_ATTENTION,
            GENERIC_ROWS,
            GENERIC_EXPERTS,
            ATTENTION_LATENT,
            LINEAR_FP8_HOPPER,
            LINEAR_PROMPT_FP8_HOPPER,
            DELTA_RULE,
            GENERIC_STATE,
            LOW_RANK,
            LINEAR_ADAPTED_HOPPER,
            CHOSEN_EXPERTS,
            ATTENTION_LATENT_HOPPER);

    private static final String ROOT = "/roselle/cuda/kernels/";
    private static final List<String> HEADERS = List.of(
            "adapter/added.cuh",
            "attention/attention.cuh",
            "attention/coded.cuh",
            "attention/decode.cuh",
            "attention/fresh.cuh",
            "attention/heads.cuh",
            "attention/kv_codes.cuh",
            "attention/kv_kernels.cuh",
            "attention/latent.cuh",
            "attention/prefill.cuh",
            "attention/prefill_hopper.cuh",
            "attention/prefill_wide.cuh",
            "attention/rope.cuh",
            "common/ampere.cuh",
            "common/elements.cuh",
            "common/hopper.cuh",
            "common/norms.cuh",
            "common/numbers.cuh",
            "common/wgmma.cuh",
            "common/wgmma_fp8.cuh",
            "common/wgmma_held.cuh",
            "format/blocks.cuh",
            "format/codes.cuh",
            "format/formats.cuh",
            "gemm/additions.cuh",
            "gemm/epilogue.cuh",
            "gemm/fp8.cuh",
            "gemm/gating.cuh",
            "gemm/linear_coded.cuh",
            "gemm/linear_hopper.cuh",
            "gemm/linear_mma.cuh",
            "gemm/prompt.cuh",
            "gemm/rings.cuh",
            "gemm/sums.cuh",
            "rows/gate_normed.cuh",
            "rows/normalise.cuh",
            "sampling/noise.cuh",
            "sampling/selection.cuh",
            "state/delta.cuh",
            "state/delta_decode.cuh",
            "state/pages.cuh");

    private static KernelSource ofEveryModel(String name, String folder) {
        return new KernelSource(name, folder, true, "");
    }

    private static KernelSource ofSomeModels(String name, String folder) {
        return new KernelSource(name, folder, false, "");
    }

    /** GEMMs with weights of a format, {@code LINEAR_Q4_0}, or of the experts that tokens chose, {@code GROUPED_Q4_0}. */
    static KernelSource ofTiles(TileFormat format, boolean isGrouped) {
        String name = (isGrouped ? "grouped_" : "linear_") + format.label();
        String macro = isGrouped ? "GROUPED_BOTH_TYPES" : "BOTH_TYPES";
        String text =
                "#include \"gemm/linear_mma.cuh\"\n\n" + macro + "(" + format.struct() + ", " + format.label() + ")\n";
        return ofText(name.toUpperCase(Locale.ROOT), text);
    }

    /** An instance of templates of products. */
    static KernelSource ofText(String name, String text) {
        return new KernelSource(name, "gemm", false, text);
    }

    /** Attention to pages of codes: {@code ATTENTION_FP8}. */
    public static KernelSource ofCodes(KvType type) {
        String label = type.label();
        String struct = label.substring(0, 1).toUpperCase(Locale.ROOT) + label.substring(1) + "Codes";
        String text = "#include \"attention/kv_kernels.cuh\"\n\nCODED_KERNELS(" + struct + ", " + label + ")\n";
        return new KernelSource("ATTENTION_" + type.name(), "attention", false, text);
    }

    /** All sources. */
    public static List<KernelSource> all() {
        var all = new ArrayList<>(FILES);
        for (TileFormat format : TileFormat.all()) {
            all.add(format.linear());
            all.add(format.grouped());
        }
        CodedFormat.all().forEach(format -> all.add(format.source()));
        KvType.all().stream().filter(KvType::isCoded).forEach(type -> all.add(ofCodes(type)));
        return all;
    }

    /** The file's name. */
    public String file() {
        return name.toLowerCase(Locale.ROOT) + ".cu";
    }

    /** The file's name with its folder, as files include each other. */
    public String path() {
        return folder + "/" + file();
    }

    /** Whether it can be compiled for an architecture such as {@code sm_90a}. */
    public boolean isFor(String architecture) {
        return !name.endsWith("HOPPER") || architecture.equals("sm_90a");
    }

    public String text() {
        return instance.isEmpty() ? read(path()) : instance;
    }

    /** The text of each header, by the name under which sources include it. */
    public static Map<String, String> headers() {
        var headers = new LinkedHashMap<String, String>();
        for (String header : HEADERS) {
            headers.put(header, read(header));
        }
        return headers;
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

    @Override
    public String toString() {
        return name;
    }
}
