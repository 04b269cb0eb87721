package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationRequest;
import roselle.cuda.FakeDriver.Card;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.engine.EngineStatus;
import roselle.engine.Generation;
import roselle.engine.Overlap;
import roselle.tensor.DataType;

/** What a step costs the host: all of the engine's turn but the device's work and the calls of its driver. */
@Tag("long")
class HostTimeTest {
    private static final Path LLAMA = Path.of("../roselle-engine/src/test/resources/tiny-models/llama");
    private static final int SEQUENCES = 128;
    private static final int PROMPT = 256;
    private static final int TOKENS = 600;
    private static final int ROUNDS = 12;
    /** A machine that does other things too gets more of them: what the code takes, it takes in each. */
    private static final int MAX_ROUNDS = 100;
    /** Many times what is measured on an idle machine, for one that is not: it notices only what no machine excuses. */
    private static final double MAX_MICROS = 1000;

    private enum Readers {
        /** One thread reads one generation after the other. */
        ONE,
        /** Each has a virtual thread that waits for its next token, as in a server. */
        EACH
    }

    @Test
    void aStepOfManySequencesTakesTheHostMicroseconds() {
        for (Overlap overlap : List.of(Overlap.OFF, Overlap.ON)) {
            for (int context : new int[] {1024, 65_536}) {
                assertThat(best(overlap, context, Readers.ONE)).as("µs a step").isLessThan(MAX_MICROS);
            }
            best(overlap, 1024, Readers.EACH); // printed: it depends on the cores that readers find
        }
    }

    @Test
    void theFirstTokenOfAPromptTakesTheHostLittle() {
        var driver = new IdleDriver(Card.HOPPER.withBytes(64L << 30));
        EngineConfig config = EngineConfig.of(LLAMA).with(new BatchOptions(1024, SEQUENCES, 8192, 0, 1024));
        try (Engine engine =
                EngineOnDevice.open(config, new CudaDevice(driver, 0, DataType.BF16, FakeKernels::cubin))) {
            double best = FirstToken.micros(engine, 512, 2000)[0];
            System.out.printf("host time until the first token of 512, context 1024: %.1f µs%n", best);
            assertThat(best).as("µs until the first token").isLessThan(10 * MAX_MICROS);
        }
    }

    private static double best(Overlap overlap, int context, Readers readers) {
        var driver = new IdleDriver(Card.HOPPER.withBytes(64L << 30));
        EngineConfig config = EngineConfig.of(LLAMA)
                .with(new BatchOptions(context, SEQUENCES, 8192, 0, 1024))
                .with(overlap);
        double best = Double.MAX_VALUE;
        try (Engine engine =
                EngineOnDevice.open(config, new CudaDevice(driver, 0, DataType.BF16, FakeKernels::cubin))) {
            for (int round = 0; round < ROUNDS || (best >= MAX_MICROS && round < mostRounds(readers)); round++) {
                best = Math.min(best, round(engine, readers));
            }
            System.out.printf(
                    "host time of a step of %d rows, context %d, overlap %s, readers %s: %.1f µs, %.1f copies of %.0f bytes%n",
                    SEQUENCES,
                    context,
                    overlap,
                    readers,
                    best,
                    driver.copies() / (double) engine.status().totals().steps(),
                    driver.copiedBytes() / (double) driver.copies());
        }
        return best;
    }

    private static int mostRounds(Readers readers) {
        return readers == Readers.ONE ? MAX_ROUNDS : ROUNDS;
    }

    /** Microseconds of a step, the prompts' own among them. */
    private static double round(Engine engine, Readers readers) {
        EngineStatus before = engine.status();
        var generations = new ArrayList<Generation>();
        for (int i = 0; i < SEQUENCES; i++) {
            generations.add(engine.submit(request(i)));
        }
        if (readers == Readers.ONE) {
            generations.forEach(HostTimeTest::read);
        } else {
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                generations.forEach(each -> threads.execute(() -> read(each)));
            }
        }
        EngineStatus after = engine.status();
        long nanos = after.totals().stepNanos() - before.totals().stepNanos();
        return nanos / 1e3 / (after.totals().steps() - before.totals().steps());
    }

    private static void read(Generation generation) {
        for (var _ : generation) {} // to its end
    }

    private static GenerationRequest request(int number) {
        var ids = new int[PROMPT];
        for (int i = 0; i < PROMPT; i++) {
            ids[i] = 3 + (i * 7 + number) % 300;
        }
        return GenerationRequest.builder()
                .tokens(ids)
                .temperature(0.7)
                .topK(50)
                .topP(0.9)
                .seed(number)
                .maxTokens(TOKENS)
                .ignoreEos(true)
                .build();
    }
}
