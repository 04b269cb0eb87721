package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.layout.SampleResultLayout;
import roselle.cuda.layout.SampleRowLayout;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.engine.Generation;
import roselle.engine.Overlap;
import roselle.tensor.DataType;

/**
 * Steps launched ahead on a device that computes the tokens alone: what it finds of a step in its memory, when it comes to it at
 * the last moment, is what it finds without overlap.
 */
class FakeOverlapTest {
    private static final Path GPT2 = Path.of("../roselle-engine/src/test/resources/tiny-models/gpt2");
    private static final int REQUESTS = 6;

    /** A row of a step: what stands where. */
    private record Row(int position, int token) {}

    /** Samples tokens that depend on seed and position alone, and notes the rows of each step. */
    private static final class Tokens {
        private final FakeDriver driver;
        private final List<Row> rows = new ArrayList<>();
        private int[] ids = new int[0];

        Tokens(FakeDriver driver) {
            this.driver = driver;
        }

        static int token(long seed, long position) {
            return (int) (3 + Math.floorMod(((seed * 31 + position) * 0x9E3779B97F4A7C15L) >>> 20, 290L));
        }

        void run(FakeKernels.Launch launch) {
            String kernel = launch.kernel().name();
            if (kernel.equals("sample")) {
                sample(launch);
            } else if (kernel.startsWith("embed_")) {
                embed(
                        launch,
                        driver.reach()
                                .readInts(launch.value("ids"), launch.grid().y()));
            } else if (kernel.startsWith("table_rows_")) {
                embed(
                        launch,
                        driver.reach()
                                .readInts(launch.value("index"), launch.grid().x()));
            }
        }

        private void sample(FakeKernels.Launch launch) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment row = arena.allocate(SampleRowLayout.BYTES, 8);
                MemorySegment id = arena.allocate(JAVA_INT);
                for (int r = 0; r < launch.grid().y(); r++) {
                    driver.reach().read(launch.value("rows") + (long) r * SampleRowLayout.BYTES, row);
                    if (SampleRowLayout.TEMPERATURE.of(row) >= 0) {
                        id.set(JAVA_INT, 0, token(SampleRowLayout.SEED.of(row), SampleRowLayout.POSITION.of(row)));
                        driver.reach().write(launch.value("results") + (long) r * SampleResultLayout.BYTES, id);
                        driver.reach().write(launch.value("tokenOf") + (long) r * Integer.BYTES, id);
                    }
                }
            }
        }

        /** GPT-2 looks up tokens, and then adds what it looks up for positions. */
        private void embed(FakeKernels.Launch launch, int[] found) {
            if ((int) launch.value("adds") == 0) {
                ids = found;
                return;
            }
            for (int r = 0; r < found.length; r++) {
                rows.add(new Row(found[r], ids[r]));
            }
        }
    }

    private static GenerationRequest request(int number) {
        var prompt = new int[1 + 7 * number];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = 3 + (i * 13 + number * 29) % 250;
        }
        return GenerationRequest.builder()
                .tokens(prompt)
                .seed(number)
                .temperature(1)
                .ignoreEos(true)
                .maxTokens(12 + 5 * number)
                .build();
    }

    private static Tokens run(Overlap overlap) {
        var driver = new FakeDriver(Card.HOPPER);
        var tokens = new Tokens(driver);
        driver.whenRun(tokens::run);
        EngineConfig config = EngineConfig.of(GPT2).with(new BatchOptions(128, 8, 128, 0, 64));
        try (Engine engine = EngineOnDevice.open(config.with(overlap), driver.open(DataType.BF16))) {
            var generations = new ArrayList<Generation>();
            for (int number = 0; number < REQUESTS; number++) {
                generations.add(engine.submit(request(number)));
            }
            for (int number = 0; number < REQUESTS; number++) {
                check(number, generations.get(number));
            }
        }
        assertThat(driver.leaks()).isEmpty();
        return tokens;
    }

    private static void check(int number, Generation generation) {
        int position = 1 + 7 * number;
        int count = 0;
        for (var event : generation) {
            if (event instanceof TokenGenerated token) {
                assertThat(token.id())
                        .as("request %d at %d", number, position)
                        .isEqualTo(Tokens.token(number, position));
                position++;
                count++;
            }
        }
        assertThat(count).isEqualTo(12 + 5 * number);
    }

    @Test
    void aStepLaunchedAheadFindsTheTokensThatWereSampledAndItsOwnPositions() {
        Tokens plain = run(Overlap.OFF);
        Tokens ahead = run(Overlap.ON);
        assertThat(plain.driver.reach().taken()).isZero();
        assertThat(ahead.driver.reach().taken())
                .as("rows that took tokens on the device")
                .isGreaterThan(60);
        assertThat(ahead.rows).containsExactlyInAnyOrderElementsOf(plain.rows);
    }
}
