package roselle.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.backend.StepInputs;
import roselle.backend.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.model.Decoder;
import roselle.model.KvPages;
import roselle.model.architecture.Architectures;
import roselle.tensor.DataType;
import roselle.testing.SharedData;

@Tag("shared-data")
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /**
     * Vectors are objects until the optimising compiler has seen their method, so steps are watched until a hundred of them
     * allocate nothing.
     */
    private static final int WINDOWS = 200;

    @Test
    void aDecodeStepAllocatesNothingOnAnyThread() {
        var limits = new StepLimits(8, 2, 2, 512, 16);
        try (Checkpoint checkpoint = Checkpoint.open(SharedData.path("stories260k/stories260K.gguf"));
                var backend = new CpuBackend(2)) {
            var blueprint = Architectures.read(checkpoint);
            int groups = blueprint.spec().kvGroups().size();
            var pages = new KvPages(DataType.F32, Collections.nCopies(groups, 2 * limits.maxPages()));
            try (Decoder decoder = Decoder.open(checkpoint, blueprint, backend, limits, pages)) {
                var inputs = inputs(limits, groups);
                long caller = Thread.currentThread().threadId();
                long worker = backend.threads()[0].threadId();
                long allocated = Long.MAX_VALUE;
                for (int window = 0; window < WINDOWS && allocated > 0; window++) {
                    long before = THREADS.getThreadAllocatedBytes(caller) + THREADS.getThreadAllocatedBytes(worker);
                    for (int position = 0; position < 100; position++) {
                        step(decoder, inputs, 300 + position);
                    }
                    long after = THREADS.getThreadAllocatedBytes(caller) + THREADS.getThreadAllocatedBytes(worker);
                    allocated = after - before;
                }
                assertThat(allocated)
                        .as("bytes that 100 steps allocate on both threads")
                        .isZero();
            }
        }
    }

    private static StepInputs inputs(StepLimits limits, int groups) {
        var inputs = new StepInputs(limits, groups);
        for (int[] table : inputs.pageTable) {
            java.util.Arrays.setAll(table, page -> page);
        }
        inputs.sequences = 2;
        inputs.rows = 2;
        inputs.outputs = 2;
        inputs.rowStart[1] = 1;
        inputs.rowStart[2] = 2;
        inputs.outputRow[1] = 1;
        return inputs;
    }

    private static void step(Decoder decoder, StepInputs inputs, int position) {
        for (int s = 0; s < 2; s++) {
            inputs.tokenIds[s] = 5 + s;
            inputs.positions[s] = position;
            inputs.contextLength[s] = position;
        }
        decoder.forward(inputs);
    }
}
