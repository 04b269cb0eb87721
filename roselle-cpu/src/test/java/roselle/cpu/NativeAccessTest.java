package roselle.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import roselle.cpu.option.CpuPath;
import roselle.testing.ChildJvm;

/** Who misses a flag of Java, and with it machine code, is told so once. */
class NativeAccessTest {
    private static final String FLAG = "--enable-native-access=ALL-UNNAMED";
    private static final Pattern WARNING = Pattern.compile("WARNING: .*" + FLAG + "$", Pattern.MULTILINE);

    private static String open(List<String> flags, String... paths) {
        return ChildJvm.run(flags, NativeAccessProbe.class, paths).success();
    }

    @Test
    void backendsWithoutNativeAccessWarnOnceOfWhatIsLost() {
        assumeTrue(CpuDevice.paths().contains(CpuPath.AVX2), "there is no machine code to miss");
        String said = open(List.of(), "vector", "auto", "auto");
        assertThat(said).contains("vector, float32 (native access is not enabled for the class path)");
        assertThat(WARNING.matcher(said).results()).as(said).hasSize(1);
        assertThat(said.indexOf("WARNING: Java does not allow native access to the class path"))
                .as("the path that was asked for is no reason to warn")
                .isGreaterThan(said.indexOf("opened"));
    }

    @Test
    void nobodyIsWarnedWhoHasTheFlagOrAskedForTheVectorApi() {
        assertThat(open(List.of(FLAG), "auto", "vector")).doesNotContain("Java does not allow native access");
        assertThat(open(List.of(), "vector")).doesNotContain("Java does not allow native access");
    }

    @Test
    void theFlagNamesTheModule() {
        assertThat(NativeAccess.warning(Object.class.getModule()))
                .contains("the module java.base")
                .endsWith("Start Java with --enable-native-access=java.base");
    }
}
