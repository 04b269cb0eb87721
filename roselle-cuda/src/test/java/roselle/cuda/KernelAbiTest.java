package roselle.cuda;

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
import roselle.cuda.nvrtc.Compiler;

/** The host and the kernels declare the same structs; the kernels' own compiler compares them. */
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

    /** The structs that host and kernels declare both, by the file that declares it for kernels. */
    static Collection<AbiProgram> programs() {
        var all = new TreeMap<String, AbiProgram>();
        SharedStructs.BY_FILE.forEach(
                (file, layouts) -> layouts.forEach(layout -> in(file, all).struct(layout)));
        in(DRIVER, all).struct(LaunchConfigLayout.LAYOUT).struct(LaunchAttributeLayout.LAYOUT);
        return all.values();
    }

    private static AbiProgram in(String file, Map<String, AbiProgram> all) {
        return all.computeIfAbsent(file, AbiProgram::new);
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
        assertThat(new AbiProgram("heads.cuh").struct(swapped).refuted(compiler, files()))
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
        assertThat(new AbiProgram("heads.cuh").struct(mistyped).refuted(compiler, files()))
                .containsExactly(
                        "KIND<TYPE(RopeArguments, inverseFrequencies)> == 'd'",
                        "KIND<TYPE(RopeArguments, pairs)> == 'f'");
    }

    @Test
    void aMemberThatKernelsDoNotHaveIsFound() {
        StructLayout renamed = CStruct.layout("int2", JAVA_INT.withName("x"), JAVA_INT.withName("row"));
        assertThat(new AbiProgram("numbers.cuh").struct(renamed).refuted(compiler, files()))
                .isNotEmpty()
                .allMatch(error -> error.contains("\"int2\" has no member \"row\""));
    }

    @Test
    void whatChangedInTheKernelsIsFound() {
        assertThat(refutedAfter("rows.cu", "int maxPages;\n    const", "int maxPages;\n    i64 more;\n    const"))
                .contains("OFFSET(PageArguments, positions) == 40", "sizeof(PageArguments) == 48");
        assertThat(refutedAfter("sample.cu", "double minP;", "float minP;"))
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
