package roselle.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Memory that is to be pinned is there, cleared, before the driver sees it, and goes when it is closed. */
@EnabledOnOs(OS.LINUX)
class HostPagesTest {
    private static final long BYTES = (80L << 20) + 4096 + 8;

    private static long residentKibibytes(long address) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/smaps"))) {
            boolean[] isWithin = new boolean[1];
            return lines.mapToLong(line -> {
                        if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                            String[] ends = line.substring(0, line.indexOf(' ')).split("-");
                            isWithin[0] = Long.compareUnsigned(Long.parseUnsignedLong(ends[0], 16), address) <= 0
                                    && Long.compareUnsigned(address, Long.parseUnsignedLong(ends[1], 16)) < 0;
                        }
                        return isWithin[0] && line.startsWith("Rss:") ? Long.parseLong(line.replaceAll("\\D", "")) : 0;
                    })
                    .sum();
        }
    }

    @Test
    void allOfItIsThereAndZeroAndGoesAgain() throws IOException {
        long address;
        try (HostPages pages = HostPages.allocate(BYTES).orElseThrow()) {
            address = pages.memory().address();
            assertThat(pages.memory().byteSize()).isEqualTo(BYTES);
            assertThat(address % (2 << 20)).isZero();
            assertThat(residentKibibytes(address)).isGreaterThanOrEqualTo(BYTES >> 10);
            assertThat(pages.memory().get(JAVA_BYTE, 0)).isZero();
            pages.memory().set(JAVA_BYTE, BYTES - 1, (byte) 5);
            assertThat(pages.memory().get(JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 5);
        }
        assertThat(residentKibibytes(address)).isLessThan(BYTES >> 10);
    }

    @Test
    void moreThanTheMachineHasIsNotTaken() {
        assertThat(HostPages.allocate(1L << 50)).isEmpty();
    }

    @Test
    void knowsWhatAContainerMayTake(@TempDir Path folder) throws IOException {
        Path machine = Files.writeString(folder.resolve("meminfo"), "MemTotal: 9 kB\nMemAvailable:   4096 kB\n");
        assertThat(HostPages.availableBytes(machine, folder)).isEqualTo(4 << 20);

        Files.writeString(folder.resolve("memory.max"), "max\n");
        assertThat(HostPages.availableBytes(machine, folder)).isEqualTo(4 << 20);

        Files.writeString(folder.resolve("memory.max"), "3000000\n");
        Files.writeString(folder.resolve("memory.current"), "2500000\n");
        Files.writeString(folder.resolve("memory.stat"), "anon 7\ninactive_file 1000\n");
        assertThat(HostPages.availableBytes(machine, folder)).isEqualTo(501_000);
    }
}
