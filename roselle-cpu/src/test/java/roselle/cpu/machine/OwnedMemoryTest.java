package roselle.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;
import roselle.cpu.machine.Processor.Feature;

/** Memory for weights: when the system backs it, and what is said where it has none. */
class OwnedMemoryTest {
    private static final long MEBIBYTE = 1 << 20;
    private static final long PAGE = 4096;
    private static final Path PAGES = Path.of("/proc/self/pagemap");

    @BeforeEach
    void assumeASystemThatMaps() {
        assumeTrue(Processor.probe().features().contains(Feature.AVX2), "no machine code here");
        assumeTrue(Files.isReadable(PAGES), "a system that does not show which pages are backed");
    }

    @Test
    void isBackedBeforeCodeWritesThere() throws IOException {
        try (var memory = new OwnedMemory()) {
            MemorySegment weights = memory.allocate(16 * MEBIBYTE);
            assertThat(isBacked(weights, 8 * MEBIBYTE + 5000)).isFalse();

            OwnedMemory.back(weights, 8 * MEBIBYTE + 5000, MEBIBYTE);
            assumeTrue(isBacked(weights, 8 * MEBIBYTE + 5000), "a system before Linux 5.14");

            for (long at = 8 * MEBIBYTE + PAGE; at < 9 * MEBIBYTE + 5000; at += PAGE) {
                assertThat(isBacked(weights, at)).isTrue();
            }
            assertThat(isBacked(weights, 0)).isFalse();
        }
    }

    @Test
    void itsLastPageIsBackedToo() throws IOException {
        try (var memory = new OwnedMemory()) {
            long bytes = 3 * MEBIBYTE + 1;
            MemorySegment weights = memory.allocate(bytes);
            OwnedMemory.back(weights, 0, bytes);
            assumeTrue(isBacked(weights, 0), "a system before Linux 5.14");
            assertThat(isBacked(weights, bytes - 1)).isTrue();
        }
    }

    @Test
    void memoryThatTheSystemRefusesIsNoDefectOfOurs() {
        try (var memory = new OwnedMemory()) {
            assertThatThrownBy(() -> memory.allocate(1L << 60))
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("the system refuses 115292150460")
                    .hasMessageContaining("choose a smaller model or context");
        }
    }

    /** Whether a page of this process is in memory: bit 63 of its entry in the system's table. */
    private static boolean isBacked(MemorySegment memory, long at) throws IOException {
        try (var table = new RandomAccessFile(PAGES.toFile(), "r")) {
            table.seek((memory.address() + at) / PAGE * Long.BYTES);
            return Long.reverseBytes(table.readLong()) < 0;
        }
    }
}
