package roselle.cuda.layout;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.StructLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.KvType;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Router;
import roselle.backend.step.SampledTokens;
import roselle.cuda.TestCompiler;
import roselle.cuda.attention.AttentionKernels;
import roselle.cuda.attention.LatentAttention;
import roselle.cuda.gemm.CodedLinear;
import roselle.cuda.gemm.ExpertGroups;
import roselle.cuda.gemm.Fp8Linear;
import roselle.cuda.gemm.GatedDecodeLinear;
import roselle.cuda.gemm.HopperLinear;
import roselle.cuda.gemm.LinearKernels;
import roselle.cuda.gemm.NormedLinear;
import roselle.cuda.gemm.PromptLinear;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.kernel.CodedFormat;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.kernel.TileFormat;
import roselle.cuda.nvrtc.Compiler;
import roselle.cuda.row.HeadKernels;
import roselle.cuda.row.RowKernels;
import roselle.cuda.sampling.SampleKernels;
import roselle.tensor.DataType;

/** The host and the kernels declare the same structs and constants; the kernels' own compiler compares them. */
class KernelAbiTest {
    private static final String DRIVER = "driver.cuh";

    /** As {@code cuda.h} of CUDA 13.0 has them; an enum is 4 bytes there, and handles are pointers. */
    private static final String DRIVER_STRUCTS = """
            typedef enum { CU_LAUNCH_ATTRIBUTE_IGNORE = 0 } CUlaunchAttributeID;
            typedef union {
                char pad[64];
                struct {
                    unsigned int x;
                    unsigned int y;
                    unsigned int z;
                } clusterDim;
                int programmaticStreamSerializationAllowed;
            } CUlaunchAttributeValue;
            typedef struct {
                CUlaunchAttributeID id;
                char pad[8 - sizeof(CUlaunchAttributeID)];
                CUlaunchAttributeValue value;
            } CUlaunchAttribute;
            typedef struct {
                unsigned int gridDimX;
                unsigned int gridDimY;
                unsigned int gridDimZ;
                unsigned int blockDimX;
                unsigned int blockDimY;
                unsigned int blockDimZ;
                unsigned int sharedMemBytes;
                struct CUstream_st* hStream;
                CUlaunchAttribute* attrs;
                unsigned int numAttrs;
            } CUlaunchConfig;
            """;

    private static TestCompiler installed;
    private static Compiler compiler;

    @BeforeAll
    static void begin() throws IOException, InterruptedException {
        installed = TestCompiler.install();
        compiler = installed.open();
    }

    @AfterAll
    static void end() {
        if (installed != null) {
            installed.close();
        }
    }

    private static Map<String, String> files() {
        var files = new LinkedHashMap<>(AbiProgram.files());
        files.put(DRIVER, DRIVER_STRUCTS);
        return files;
    }

    /** All that host and kernels declare both, by the file that declares it for kernels. */
    static Collection<AbiProgram> programs() {
        var all = new TreeMap<String, AbiProgram>();
        SharedStructs.BY_FILE.forEach(
                (file, layouts) -> layouts.forEach(layout -> in(file, all).struct(layout)));
        in(DRIVER, all).struct(LaunchConfigLayout.LAYOUT).struct(LaunchAttributeLayout.LAYOUT);
        weights(all);
        attention(all);
        packed(all);
        fp8(all);
        formats(all);
        sampling(in("sampling/sample.cu", all));
        return all.values();
    }

    private static AbiProgram in(String file, Map<String, AbiProgram> all) {
        return all.computeIfAbsent(file, AbiProgram::new);
    }

    private static void weights(Map<String, AbiProgram> all) {
        AbiProgram types = in("format/blocks.cuh", all);
        for (DataType type : DataType.values()) {
            types.equal("W_" + type.name(), KernelNumbers.of(type));
        }
        AbiProgram cached = in("common/elements.cuh", all);
        for (KvType type : KvType.all()) {
            cached.equal("CACHE_" + type.name(), KernelNumbers.ofCache(type));
        }
        AbiProgram epilogue = in("gemm/epilogue.cuh", all);
        for (Activation activation : Activation.values()) {
            epilogue.equal(activation.name(), KernelNumbers.of(activation));
        }
        epilogue.equal("ACCUMULATES", LinearKernels.ACCUMULATES);
        epilogue.equal("STORES_FLOATS", LinearKernels.STORES_FLOATS);
        AbiProgram experts = in("gemm/generic_experts.cu", all);
        for (Router.Scoring scoring : Router.Scoring.values()) {
            experts.equal(scoring.name(), KernelNumbers.of(scoring));
        }
        experts.equal("sizeof(int4)", ExpertGroups.TILE_BYTES);
        in("rows/rows.cu", all)
                .equal("THREADS", RowKernels.FAST_THREADS)
                .equal("8 * THREADS", RowKernels.FAST_COLUMNS)
                .equal("WARPS", AttentionKernels.FAST_WARPS)
                .equal("MOST_HEAD", AttentionKernels.FAST_ROPE_SIZE);
        in("gemm/generic_linear.cu", all)
                .equal("WARPS", LinearKernels.GENERIC_OUTPUTS)
                .equal("ROWS", LinearKernels.GENERIC_ROWS);
    }

    private static void attention(Map<String, AbiProgram> all) {
        AbiProgram shared = in("attention/attention.cuh", all)
                .equal("PAGE", AttentionTiling.PAGE)
                .equal("TILE", AttentionTiling.TILE)
                .equal("SPLIT", AttentionTiling.SPLIT);
        AbiProgram hopper = in("attention/attention_prefill_hopper.cu", all).equal("ROWS", HeadKernels.TILE_ROWS);
        for (int size : HeadKernels.SIZES) {
            shared.equal("STRIDE<" + size + ">", HeadKernels.stride(size));
            shared.equal("TILE_BYTES<" + size + ">", HeadKernels.tileBytes(size));
            if (size <= HeadKernels.MAX_USUAL) {
                hopper.equal("Stages<" + size + ", 1>::HALF", HeadKernels.splitBytes(size));
            }
        }
        for (int size : List.of(64, 128, 256)) {
            in("attention/attention_decode_hopper.cu", all)
                    .equal("Bulk::STAGE_BYTES<" + size + ">", 2L * AttentionTiling.TILE * size * Short.BYTES);
        }
        hopper.equal("Wide::SIZE", HeadKernels.MAX_USUAL)
                .equal("Wide::KEYS", HeadKernels.splitBytes(HeadKernels.MAX_USUAL));
        in("attention/generic_attention.cu", all).equal("TILE", AttentionTiling.TILE);
        in("attention/latent.cuh", all)
                .equal("KEY", LatentAttention.KEY)
                .equal("VALUE", LatentAttention.VALUE)
                .equal("ENTRY", LatentAttention.ENTRY)
                .equal("EARLY_SPLITS", LatentAttention.EARLY_SPLITS)
                .equal("EARLY_TILES", LatentAttention.EARLY_TILES)
                .equal("LATE_TILES", LatentAttention.LATE_TILES);
        in("attention/attention_latent.cu", all)
                .equal("Places<16, 1>::BYTES", LatentAttention.narrowSharedBytes(1))
                .equal("Places<16, 2>::BYTES", LatentAttention.narrowSharedBytes(2))
                .equal("Places<64, 2>::BYTES", LatentAttention.WIDE_SHARED_MEMORY);
        in("attention/attention_latent_hopper.cu", all)
                .equal("MEMORY + " + PackedTiles.STAGE_ALIGNMENT, LatentAttention.HOPPER_SHARED_MEMORY);
    }

    private static void packed(Map<String, AbiProgram> all) {
        in("common/hopper.cuh", all).equal("sizeof(TensorMap)", Launcher.SLOT);
        AbiProgram rings = in("gemm/rings.cuh", all)
                .equal("TILE", PackedTiles.TILE)
                .equal("TILE_BYTES", PackedTiles.TILE_BYTES)
                .equal("MOST_SLICES", PackedTiles.MAX_SLICES);
        for (HopperLinear.Kind kind : HopperLinear.Kind.values()) {
            String ring = "Ring<%d, %d, %d, %d>".formatted(kind.tokens, kind.groups, kind.producers, kind.stages);
            rings.equal(ring + "::STAGE_BYTES", kind.stageBytes());
            rings.equal(ring + "::INBOX_BYTES", kind.inboxBytes());
        }
        for (GatedDecodeLinear.Kind kind : GatedDecodeLinear.Kind.values()) {
            String ring = "Ring<%d, 2, %d, %d, true>".formatted(kind.tokens, kind.producers, kind.stages);
            rings.equal(ring + "::STAGE_BYTES", kind.stageBytes()).equal(ring + "::INBOX_BYTES", 0);
        }
        rings.equal("NormRing::TOKENS", NormedLinear.TOKENS)
                .equal("NormRing::STAGES", NormedLinear.STAGES)
                .equal("NormRing::MOST_TILES * TILE", NormedLinear.MAX_COLUMNS)
                .equal("NormRing::INBOX_BYTES", NormedLinear.INBOX_BYTES);
        AbiProgram prompt = in("gemm/linear_prompt_hopper.cu", all)
                .equal("CLUSTER", PromptLinear.CLUSTER)
                .equal("GROUPS", PromptLinear.GROUPS);
        for (int tokens : List.of(128, 192, 256)) {
            String memory = "Memory<" + tokens + ", 4, false, ";
            prompt.equal(memory + "false>::STAGE_BYTES", PromptLinear.stageBytes(tokens))
                    .equal(memory + "false>::RESULT_BYTES", PromptLinear.resultBytes(tokens, PackedTiles.TILE))
                    .equal(memory + "true>::RESULT_BYTES", PromptLinear.resultBytes(tokens, 32));
        }
    }

    private static void fp8(Map<String, AbiProgram> all) {
        AbiProgram few = in("gemm/linear_fp8_hopper.cu", all).equal("FP8_COLUMNS", CodedFormat.COLUMNS);
        for (Fp8Linear.Kind kind : Fp8Linear.Kind.values()) {
            String ring = "Fp8Ring<%d, %d>".formatted(kind.tokens, kind.stages);
            few.equal(ring + "::STAGE_BYTES", kind.stageBytes()).equal(ring + "::INBOX_BYTES", kind.inboxBytes());
        }
        AbiProgram many = in("gemm/linear_prompt_fp8_hopper.cu", all).equal("BLOCK_ROWS", 128);
        for (Fp8Linear.ManyKind kind : Fp8Linear.ManyKind.values()) {
            String memory = "Memory<%d, %b, %b>"
                    .formatted(kind.stages, kind == Fp8Linear.ManyKind.SLICED, kind == Fp8Linear.ManyKind.GATED);
            many.equal(memory + "::STAGE_BYTES", Fp8Linear.ManyKind.stageBytes())
                    .equal(memory + "::HALVES * " + memory + "::HALF_BYTES", kind.resultBytes());
        }
    }

    private static void formats(Map<String, AbiProgram> all) {
        AbiProgram products = in("gemm/linear_mma.cuh", all)
                .equal("FEW_OUTPUTS", TileFormat.FEW_OUTPUTS)
                .equal("MANY_OUTPUTS", TileFormat.MANY_OUTPUTS)
                .equal("MANY_TOKENS", TileFormat.MANY_TOKENS);
        for (TileFormat format : TileFormat.all()) {
            String name = format.struct();
            products.equal(name + "::STRIDE", format.stride())
                    .equal("BlockMemory<" + name + ">::FEW_BYTES", format.fewBytes())
                    .equal("BlockMemory<" + name + ">::MANY_BYTES", format.manyBytes());
        }
        AbiProgram coded = in("gemm/linear_coded.cuh", all)
                .equal("CODE_ROWS", PackedTiles.TILE)
                .equal("CODE_COLUMNS", CodedFormat.COLUMNS);
        for (CodedFormat format : CodedFormat.all()) {
            String name = format.struct();
            coded.equal(name + "::BYTES", format.tileBytes())
                    .equal(name + "::BLOCK_BYTES", format.type().blockBytes())
                    .equal(name + "::BLOCK", format.type().blockElements());
            for (CodedLinear.Kind kind : CodedLinear.Kind.values()) {
                int stages = kind.stages(format);
                String ring = "CodedRing<%s, %d, %d, %d, %d>"
                        .formatted(name, kind.tokens, kind.groups, kind.producers, stages);
                coded.equal("CodedStages<" + name + ">::" + kind.name(), stages)
                        .equal(ring + "::STAGE_BYTES", kind.stageBytes(format))
                        .equal(ring + "::INBOX_BYTES", kind.inboxBytes());
            }
        }
    }

    private static void sampling(AbiProgram sample) {
        sample.equal("MOST_LOGPROBS", SampledTokens.MAX_LOGPROBS)
                .equal("THREADS", SampleKernels.THREADS)
                .equal("2 * BINS * sizeof(u64)", SampleKernels.EXCHANGE_BYTES)
                .equal("2 * (LIST + 1) * sizeof(u64)", SampleKernels.LIST_BYTES);
        SampledTokens.Failure[] failures = SampledTokens.Failure.values();
        for (int number = 0; number < failures.length; number++) {
            SampledTokens.Failure failure = SampleKernels.failure(number);
            sample.equal(failure == SampledTokens.Failure.NONE ? "FINE" : failure.name(), number);
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void hostAndKernelsDeclareTheSame(AbiProgram program) {
        assertThat(program.size()).isPositive();
        assertThat(program.refuted(compiler, files())).isEmpty();
    }

    @Test
    void aMemberThatMovedOnTheHostIsFound() {
        StructLayout swapped = CStruct.layout(
                "RopeArguments",
                JAVA_LONG.withName("inverseFrequencies"),
                JAVA_INT.withName("interleaved"),
                JAVA_FLOAT.withName("factor"),
                JAVA_INT.withName("pairs"));
        assertThat(new AbiProgram("attention/heads.cuh").struct(swapped).refuted(compiler, files()))
                .containsExactly("OFFSET(RopeArguments, interleaved) == 8", "OFFSET(RopeArguments, pairs) == 16");
    }

    @Test
    void aMemberOfAnotherTypeIsFound() {
        StructLayout mistyped = CStruct.layout(
                "RopeArguments",
                JAVA_DOUBLE.withName("inverseFrequencies"),
                JAVA_FLOAT.withName("pairs"),
                JAVA_FLOAT.withName("factor"),
                JAVA_INT.withName("interleaved"));
        assertThat(new AbiProgram("attention/heads.cuh").struct(mistyped).refuted(compiler, files()))
                .containsExactly(
                        "KIND<TYPE(RopeArguments, inverseFrequencies)> == 'd'",
                        "KIND<TYPE(RopeArguments, pairs)> == 'f'");
    }

    @Test
    void aMemberThatKernelsDoNotHaveIsFound() {
        StructLayout renamed = CStruct.layout("int2", JAVA_INT.withName("x"), JAVA_INT.withName("row"));
        assertThat(new AbiProgram("common/numbers.cuh").struct(renamed).refuted(compiler, files()))
                .isNotEmpty()
                .allMatch(error -> error.contains("\"int2\" has no member \"row\""));
    }

    @Test
    void whatChangedInTheKernelsIsFound() {
        assertThat(refutedAfter("attention/attention.cuh", "SPLIT = 128", "SPLIT = 256"))
                .contains("SPLIT == 128");
        assertThat(refutedAfter("format/blocks.cuh", "    W_Q4_K,\n    W_Q5_K,", "    W_Q5_K,\n    W_Q4_K,"))
                .containsExactly("W_Q4_K == 22", "W_Q5_K == 23");
        assertThat(refutedAfter("rows/rows.cu", "int maxPages;\n    const", "int maxPages;\n    i64 more;\n    const"))
                .contains("OFFSET(PageArguments, positions) == 40", "sizeof(PageArguments) == 48");
        assertThat(refutedAfter("sampling/sample.cu", "double minP;", "float minP;"))
                .containsExactly("sizeof(TYPE(SampleRow, minP)) == 8", "KIND<TYPE(SampleRow, minP)> == 'd'");
    }

    private static List<String> refutedAfter(String file, String before, String after) {
        Map<String, String> files = files();
        String text = files.getOrDefault(file, "");
        assertThat(text).contains(before);
        files.put(file, text.replace(before, after));
        var refuted = new ArrayList<String>();
        for (AbiProgram program : programs()) {
            if (program.file().equals(file)) {
                refuted.addAll(program.refuted(compiler, files));
            }
        }
        return refuted;
    }

    @Test
    void accessToAMemberByAnotherTypeIsRefused() {
        assertThatThrownBy(() -> CStruct.ofLong(RopeArgumentsLayout.LAYOUT, "pairs"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("RopeArguments's pairs");
        assertThatThrownBy(() -> CStruct.ofInt(RopeArgumentsLayout.LAYOUT, "turns"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
