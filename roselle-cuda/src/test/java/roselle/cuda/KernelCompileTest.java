package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.KvType;
import roselle.cuda.kernel.CodedFormat;
import roselle.cuda.kernel.CubinBuild;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.TileFormat;
import roselle.cuda.nvrtc.Compiler;
import roselle.tensor.DataType;

/**
 * Every kernel compiles without a warning for Hopper, which has them all (of products whose sources differ in their format alone,
 * one of each kind), and what the others see of other branches of the preprocessor; and all of them become machine code for each
 * architecture that we name, without spilling registers. That takes ten minutes for all, so {@link CompiledKernels} keeps what became
 * machine code so, and what is not kept there is compiled.
 */
class KernelCompileTest {
    private static final String HOPPER = "sm_90a";

    /** One before Hopper, of those with small blocks. */
    private static final String SMALL_BLOCKS = "sm_86";

    /** Every kind of the compiler's messages about sources, without the half of its time that goes into machine code. */
    private static final String WITHOUT_MACHINE_CODE = "compute_";

    /** Formats whose products are compiled in the quick test: blocks with a scale, and blocks of blocks. */
    private static final Set<DataType> TYPICAL = Set.of(DataType.F8_E4M3_128, DataType.Q4_K);

    /** Kernels that repeat those of other formats: products of all rows, of experts, of codes in tiles; attention to codes. */
    private static final Set<KernelSource> REPEATING = repeating();

    /** What has branches for architectures, in their own text or in what they include. */
    private static final Set<KernelSource> BRANCHING = Set.of(
            KernelSource.ATTENTION_DECODE,
            KernelSource.ATTENTION_PREFILL,
            KernelSource.ATTENTION_BOTH,
            KernelSource.ATTENTION_LATENT,
            KernelSource.CHOSEN_EXPERTS,
            KernelSource.LOW_RANK,
            KernelSource.SAMPLE,
            TileFormat.of(DataType.F8_E4M3_128, DataType.BF16).orElseThrow().linear());

    /** What takes the compiler longest, because it has every kernel for three types or two: the quick test looks at one of them. */
    private static final Set<KernelSource> OF_TYPES = Set.of(KernelSource.LINEAR_HOPPER, KernelSource.GENERIC_LINEAR);

    /** Kernels of the other types, one a line. */
    private static final Pattern OTHER_TYPES = Pattern.compile("(?m)^ *[A-Z_]+\\(.*\\b(F16|F32)\\b.*\\)$");

    private static final ExecutorService THREADS =
            Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
    private static final Map<Job, Future<Compiler.Result>> RESULTS = new HashMap<>();
    private static @Nullable TestCompiler installed;
    private static @Nullable CompiledKernels compiled;

    private record Job(KernelSource source, String architecture) {
        static Job ofText(KernelSource source, String architecture) {
            return new Job(source, architecture.replace("sm_", WITHOUT_MACHINE_CODE));
        }
    }

    private static Set<KernelSource> repeating() {
        List<TileFormat> typical = TYPICAL.stream()
                .map(type -> TileFormat.of(type, DataType.BF16).orElseThrow())
                .toList();
        var repeating = new HashSet<KernelSource>();
        TileFormat.all().stream().filter(format -> !format.isPlain()).forEach(format -> {
            repeating.add(format.grouped());
            if (!typical.contains(format)) {
                repeating.add(format.linear());
            }
        });
        CodedFormat.all().stream()
                .filter(format -> format.type() != DataType.I4_128)
                .forEach(format -> repeating.add(format.source()));
        repeating.add(KernelSource.ofCodes(KvType.FP8));
        repeating.add(KernelSource.ofCodes(KvType.INT8));
        return Set.copyOf(repeating);
    }

    @BeforeAll
    static void install() throws IOException, InterruptedException {
        installed = TestCompiler.install();
        compiled = CompiledKernels.read();
    }

    @AfterAll
    static void end() throws IOException {
        THREADS.shutdownNow();
        if (compiled != null) {
            compiled.writeIfAsked();
        }
        if (installed != null) {
            installed.close();
        }
    }

    private static Compiler.Result compile(Compiler compiler, Job job) {
        KernelSource source = job.source;
        boolean isPart = OF_TYPES.contains(source) && job.architecture.startsWith(WITHOUT_MACHINE_CODE);
        String text = isPart ? OTHER_TYPES.matcher(source.text()).replaceAll("") : source.text();
        return compiler.compile(source.file(), text, KernelSource.headers(), job.architecture);
    }

    static List<Arguments> kernels() {
        var jobs = new ArrayList<Job>();
        for (KernelSource source : KernelSource.all()) {
            if (REPEATING.contains(source)) {
                continue;
            }
            jobs.add(Job.ofText(source, HOPPER));
            if (BRANCHING.contains(source)) {
                jobs.add(Job.ofText(source, SMALL_BLOCKS));
            }
        }
        return begin(jobs);
    }

    private static List<Job> everyJob() {
        var jobs = new ArrayList<Job>();
        for (KernelSource source : KernelSource.all()) {
            CubinBuild.ARCHITECTURES.stream()
                    .filter(source::isFor)
                    .forEach(architecture -> jobs.add(new Job(source, architecture)));
        }
        return jobs;
    }

    static List<Arguments> kernelsThatAreNew() {
        return begin(everyJob().stream()
                .filter(job -> !Objects.requireNonNull(compiled).has(job.source, job.architecture))
                .toList());
    }

    /** Begins to compile on all processors what one test is going to ask for. */
    private static List<Arguments> begin(List<Job> jobs) {
        var compiler = Objects.requireNonNull(installed).open();
        jobs.forEach(job -> RESULTS.put(job, THREADS.submit(() -> compile(compiler, job))));
        return jobs.stream()
                .map(job -> Arguments.of(job.source, job.architecture))
                .toList();
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("kernels")
    void compilesWithoutAWarning(KernelSource source, String architecture)
            throws InterruptedException, ExecutionException {
        assertThat(result(source, architecture).log())
                .as("%s for %s", source.file(), architecture)
                .isEmpty();
    }

    @Tag("long")
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("kernelsThatAreNew")
    void becomesMachineCodeForEveryArchitectureWithoutAWarning(KernelSource source, String architecture)
            throws InterruptedException, ExecutionException {
        compilesWithoutAWarning(source, architecture);
        assertThat(result(source, architecture).cubin()).startsWith(0x7F, 'E', 'L', 'F');
        Objects.requireNonNull(compiled).add(source, architecture);
    }

    @Test
    void whatIsKeptIsOfTheseSources() {
        Set<String> lines = everyJob().stream()
                .map(job -> CompiledKernels.line(job.source, job.architecture))
                .collect(Collectors.toSet());
        assertThat(lines)
                .as("run this test with -Droselle.writeCompiledKernels=true: the file is for other sources")
                .containsAll(Objects.requireNonNull(compiled).lines());
    }

    private static Compiler.Result result(KernelSource source, String architecture)
            throws InterruptedException, ExecutionException {
        return Objects.requireNonNull(RESULTS.get(new Job(source, architecture)))
                .get();
    }

    @Test
    void theBuildOfTheProgramMakesMachineCode(@TempDir Path folder) throws IOException, InterruptedException {
        CubinBuild.main(new String[] {folder.toString(), "sm_80,sm_90a", "generic_experts"});
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files)
                    .hasSize(2)
                    .allSatisfy(file -> assertThat(Files.readAllBytes(file)).startsWith(0x7F, 'E', 'L', 'F'));
        }
    }

    /** No source has a branch that the quick test above does not see for want of being named there. */
    @Test
    void everySourceThatBranchesIsNamed() {
        Map<String, String> headers = KernelSource.headers();
        for (KernelSource source : KernelSource.all()) {
            String text = source.text();
            if (source.isFor(SMALL_BLOCKS) && (text.contains("__CUDA_ARCH__") || text.contains("SMALL_BLOCKS"))) {
                assertThat(BRANCHING).contains(source);
            }
        }
        headers.forEach((name, text) -> {
            if (text.contains("__CUDA_ARCH__")) {
                assertThat(BRANCHING)
                        .as("one of the sources that include %s", name)
                        .anyMatch(source -> CompiledKernels.includedBy(source).contains(name));
            }
        });
    }

    @Test
    void whatASourceDeclaresForNothingIsNoticedWithoutMachineCode() {
        String wasteful = "extern \"C\" __global__ void waste(float* x) { int unused; x[0] = 1.0f; }";
        Compiler.Result result =
                new Compiler().compile("waste.cu", wasteful, Map.of(), HOPPER.replace("sm_", WITHOUT_MACHINE_CODE));
        assertThat(result.log()).contains("unused");
    }

    @Test
    void aKernelThatSpillsIsNoticed() {
        String spilling = """
                extern "C" __global__ void __launch_bounds__(1024, 2) spill(float* x) {
                    float v[64];
                #pragma unroll
                    for (int i = 0; i < 64; i++) v[i] = x[i * 1024 + threadIdx.x];
                    __syncthreads();
                #pragma unroll
                    for (int i = 0; i < 64; i++) x[i * 1024 + threadIdx.x] = v[i] * v[63 - i];
                }
                """;
        for (String architecture : CubinBuild.ARCHITECTURES) {
            Compiler.Result result = new Compiler().compile("spill.cu", spilling, Map.of(), architecture);
            assertThat(result.log()).as(architecture).contains("spill");
        }
    }
}
