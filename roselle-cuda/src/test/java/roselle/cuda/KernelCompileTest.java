package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.nvrtc.Compiler;

/** Every kernel compiles for every architecture that we name, without a warning and without spilling registers. */
class KernelCompileTest {
    private static final List<String> ARCHITECTURES = List.of("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120");
    private static final ExecutorService THREADS =
            Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
    private static final Map<Job, Future<Compiler.Result>> RESULTS = new HashMap<>();
    private static @Nullable TestCompiler installed;

    private record Job(KernelSource source, String architecture) {}

    /** Begins to compile everything on all processors. */
    @BeforeAll
    static void begin() throws IOException, InterruptedException {
        installed = TestCompiler.install();
        var compiler = installed.open();
        for (Job job : jobs()) {
            RESULTS.put(job, THREADS.submit(() -> compile(compiler, job)));
        }
    }

    @AfterAll
    static void end() {
        THREADS.shutdownNow();
        if (installed != null) {
            installed.close();
        }
    }

    private static Compiler.Result compile(Compiler compiler, Job job) {
        KernelSource source = job.source;
        return compiler.compile(source.file(), source.text(), KernelSource.headers(), job.architecture);
    }

    private static List<Job> jobs() {
        var all = new ArrayList<Job>();
        for (KernelSource source : KernelSource.values()) {
            for (String architecture : ARCHITECTURES) {
                if (source.isFor(architecture)) {
                    all.add(new Job(source, architecture));
                }
            }
        }
        return all;
    }

    static List<Arguments> kernels() {
        return jobs().stream()
                .map(job -> Arguments.of(job.source, job.architecture))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void compilesWithoutAWarning(KernelSource source, String architecture)
            throws InterruptedException, ExecutionException {
        Future<Compiler.Result> compiled = Objects.requireNonNull(RESULTS.get(new Job(source, architecture)));
        Compiler.Result result = compiled.get();
        assertThat(result.log()).as("%s for %s", source.file(), architecture).isEmpty();
        assertThat(result.cubin()).startsWith(0x7F, 'E', 'L', 'F');
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
        for (String architecture : ARCHITECTURES) {
            Compiler.Result result = new Compiler().compile("spill.cu", spilling, Map.of(), architecture);
            assertThat(result.log()).as(architecture).contains("spill");
        }
    }
}
