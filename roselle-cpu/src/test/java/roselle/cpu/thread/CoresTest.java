package roselle.cpu.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CoresTest {
    @TempDir
    private Path folder;

    /** Processors 0 to 7, of which i and i + 4 are the threads of one core. */
    private Path fourCoresOfTwoThreads() throws IOException {
        for (int i = 0; i < 8; i++) {
            Path topology = Files.createDirectories(folder.resolve("cpu" + i + "/topology"));
            Files.writeString(topology.resolve("thread_siblings_list"), i % 4 + "," + (i % 4 + 4) + "\n");
        }
        Files.createDirectories(folder.resolve("cpufreq"));
        return folder;
    }

    private Path allowed(String processors) throws IOException {
        return Files.writeString(folder.resolve("status"), "Name:\tjava\nCpus_allowed_list:\t" + processors + "\n");
    }

    @Test
    void aThreadHasAtLeastSoManyWeightsAndAtMostACore() {
        assertThat(Cores.worthwhile(0, 8)).isEqualTo(1);
        assertThat(Cores.worthwhile(2 * Cores.MIN_BYTES - 1, 8)).isEqualTo(1);
        assertThat(Cores.worthwhile(2 * Cores.MIN_BYTES, 8)).isEqualTo(2);
        assertThat(Cores.worthwhile(2 * Cores.MIN_BYTES, 1)).isEqualTo(1);
        assertThat(Cores.worthwhile(Long.MAX_VALUE, 8)).isEqualTo(8);
        assertThat(Cores.worthwhile(1L << 40)).isEqualTo(Cores.count());
    }

    @Test
    void twoThreadsOfACoreCountOnce() throws IOException {
        assertThat(Cores.count(fourCoresOfTwoThreads(), allowed("0-7"), 8)).isEqualTo(4);
    }

    @Test
    void processorsThatTheProcessMayNotUseDoNotCount() throws IOException {
        assertThat(Cores.count(fourCoresOfTwoThreads(), allowed("0-1,5"), 3)).isEqualTo(2);
    }

    @Test
    void aContainersShareOfTimeBoundsTheNumber() throws IOException {
        assertThat(Cores.count(fourCoresOfTwoThreads(), allowed("0-7"), 3)).isEqualTo(3);
    }

    @Test
    void whereNothingIsToldEachProcessorCounts() throws IOException {
        assertThat(Cores.count(folder.resolve("none"), allowed("0-7"), 6)).isEqualTo(6);
        assertThat(Cores.count(fourCoresOfTwoThreads(), folder.resolve("none"), 6))
                .isEqualTo(6);
        assertThat(Cores.count(fourCoresOfTwoThreads(), allowed("all of them"), 6))
                .isEqualTo(6);
        Files.delete(folder.resolve("cpu3/topology/thread_siblings_list"));
        assertThat(Cores.count(folder, allowed("0-7"), 6)).isEqualTo(6);
    }

    @Test
    void thisMachineHasOne() {
        assertThat(Cores.count()).isBetween(1, Runtime.getRuntime().availableProcessors());
    }
}
