package roselle.cpu.row;

import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.Arena;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import roselle.cpu.attention.AttentionCall;
import roselle.cpu.attention.MachineAttention;
import roselle.cpu.attention.PagedAttention;
import roselle.cpu.gemm.GemmCall;
import roselle.cpu.gemm.GemmPart;
import roselle.cpu.gemm.MachineGemm;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.thread.WorkerPool;

/** A thread that works without having been told on what fails, and leaves no wrong numbers. */
class MissingCallTest {
    @Test
    void workOnRowsFails() {
        assertMissing(() -> new RowSums().run(new Scratch(), 0, 1), "input");
        assertMissing(() -> new TableRows().run(new Scratch(), 0, 1), "table");
        try (var pool = new WorkerPool(1)) {
            assertMissing(() -> new LogitScaling(pool).run(0, 1), "logits");
        }
    }

    @Test
    void attentionFails() {
        try (var arena = Arena.ofShared();
                var pool = new WorkerPool(1);
                var code = MachineCode.open(CpuOptions.of(1))) {
            var attention = new PagedAttention(pool, code, arena);
            assertMissing(() -> attention.run(0, 1), "step");
            assertMissing(() -> new MachineAttention(code, arena).run(new AttentionCall(), 0, 0, 1, 0, 1), "step");
        }
    }

    @Test
    void theEndOfAProductFails() {
        try (var arena = Arena.ofShared();
                var code = MachineCode.open(CpuOptions.of(1))) {
            var part = new GemmPart(new MachineGemm(code, arena), new GemmCall());
            assertMissing(() -> part.store(0, 0, 1, new float[1], 0), "output");
        }
    }

    private static void assertMissing(ThrowingCallable work, String what) {
        assertThatNullPointerException().isThrownBy(work).withMessage(what);
    }
}
