package roselle.cpu.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.cpu.CpuDevice;

/** Pages that are given back are the system's: they read as zeros; the others are as they were. */
final class GivenBackPagesTest {
    private static final KvGroup GROUP = new KvGroup("full", 2, 4, 128, 128, 0);
    private static final int PAGES = 20;

    @Test
    void onlyTheMemoryOfThesePagesIsGivenBack() {
        try (var device = new CpuDevice(1)) {
            assumeThat(device.givesPagesBack())
                    .as("machine code, and with it memory of our own")
                    .isTrue();
            var cache = (CpuKvCache) device.allocateKvCache(List.of(GROUP), KvType.F16, 16, new int[] {PAGES});
            MemorySegment memory = cache.segment(0);
            memory.fill((byte) 1);

            device.givePagesBack(cache, 0, new int[] {3, 4, 5, 9, 18, 19});

            for (int layer = 0; layer < 2; layer++) {
                for (int page = 0; page < PAGES; page++) {
                    boolean isGiven = List.of(3, 4, 5, 9, 18, 19).contains(page);
                    byte first = memory.get(ValueLayout.JAVA_BYTE, cache.keyAt(0, layer, page, 0, 0));
                    byte last = memory.get(ValueLayout.JAVA_BYTE, cache.valueAt(0, layer, page, 3, 15) + 255);
                    assertThat(List.of(first, last))
                            .as("layer %d, page %d", layer, page)
                            .containsOnly((byte) (isGiven ? 0 : 1));
                }
            }
            device.takePagesBack(cache, 0, new int[] {9});
            memory.set(ValueLayout.JAVA_BYTE, cache.keyAt(0, 1, 9, 0, 0), (byte) 7);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, cache.keyAt(0, 1, 9, 0, 0)))
                    .isEqualTo((byte) 7);
        }
    }
}
