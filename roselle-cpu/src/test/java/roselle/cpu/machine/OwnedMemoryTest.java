package roselle.cpu.machine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
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
import roselle.backend.memory.SpareMemory;
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
            OwnedMemory.Piece piece = memory.allocateForFilling(16 * MEBIBYTE);
            MemorySegment weights = piece.memory();
            assertThat(isBacked(weights, 8 * MEBIBYTE + 5000)).isFalse();

            piece.back(8 * MEBIBYTE + 5000, MEBIBYTE);
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
            OwnedMemory.Piece piece = memory.allocateForFilling(bytes);
            MemorySegment weights = piece.memory();
            piece.back(0, bytes);
            assumeTrue(isBacked(weights, 0), "a system before Linux 5.14");
            assertThat(isBacked(weights, bytes - 1)).isTrue();
        }
    }

    @Test
    void whatOneLeavesTheNextHasClearedAndTheRestIsReturned() throws IOException {
        var spare = new SpareMemory();
        var first = new OwnedMemory();
        first.share(spare);
        MemorySegment left = first.allocateForFilling(16 * MEBIBYTE).memory();
        left.fill((byte) 5);
        first.allocate(32 * MEBIBYTE); // not filled: of keys and values
        spare.keepFrom(first::close);
        assertThat(spare.bytes()).isEqualTo(OwnedMemory.taken(16 * MEBIBYTE));

        try (var second = new OwnedMemory()) {
            second.share(spare);
            OwnedMemory.Piece piece = second.allocateForFilling(3 * MEBIBYTE);
            assertThat(piece.isUsed()).isTrue();
            assertThat(piece.memory().address()).isEqualTo(left.address());
            assertThat(piece.memory().get(JAVA_BYTE, MEBIBYTE)).isEqualTo((byte) 5);
            piece.back(MEBIBYTE, MEBIBYTE);
            piece.clear(MEBIBYTE, MEBIBYTE);
            assertThat(piece.memory().get(JAVA_BYTE, MEBIBYTE)).isZero();
            assertThat(piece.memory().get(JAVA_BYTE, 2 * MEBIBYTE - 1)).isZero();
            assertThat(piece.memory().get(JAVA_BYTE, 2 * MEBIBYTE)).isEqualTo((byte) 5);

            OwnedMemory.Piece larger = second.allocateForFilling(17 * MEBIBYTE); // not to be had of what is left
            assertThat(larger.isUsed()).isFalse();
            assertThat(larger.memory().get(JAVA_BYTE, 0)).isZero();
            assertThat(spare.bytes()).as("returned, since more was taken").isZero();
        }
        assertThat(spare.bytes()).as("nobody was to come").isZero();
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
