package roselle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.hub.BundledModel;
import roselle.offline.Answer;
import roselle.offline.OrderedRows;
import roselle.offline.RowGenerator;
import roselle.offline.RowPool;
import roselle.offline.RowWork;

/**
 * Measures what one row of thousands of tokens adds to many short ones when it is the last of them: by how much all take longer than
 * they have to, which is the longest of the long row alone, as many tokens in short rows, and what both cost the processors, by as many
 * of them as the engine keeps busy with short rows. Prints it, and what all cost the processors, which other work changes less; asserts
 * the order in which rows begin alone.
 */
@Tag("manual")
class LongRowTest {
    private static final int LONG = Integer.getInteger("roselle.long.tokens", 8_000);
    private static final int SHORT = 32;
    private static final int ROWS = Integer.getInteger("roselle.long.rows", 10_000);
    private static final int REPEATS = Integer.getInteger("roselle.long.repeats", 3);
    private static final int SEQUENCES = Integer.getInteger("roselle.long.sequences", 64);
    private static final long AHEAD = 16 << 20;

    /** Tokens of the answer of a row. */
    private static final class Work implements RowWork<Integer, Answer> {
        private final RowGenerator generator;
        private final AtomicLong begun = new AtomicLong();
        private volatile long longBegan = -1;

        Work(Engine engine) {
            generator = new RowGenerator(engine);
        }

        @Override
        public Answer answer(Integer tokens) {
            long number = begun.getAndIncrement();
            if (tokens == LONG) {
                longBegan = number;
            }
            return generator.answer(GenerationRequest.builder()
                    .text("Row " + number)
                    .seed(number)
                    .temperature(1)
                    .maxTokens(tokens)
                    .ignoreEos(true)
                    .build());
        }

        @Override
        public long expectedTokens(Integer tokens) {
            return tokens;
        }

        @Override
        public long rowBytes(Integer tokens) {
            return 64;
        }

        @Override
        public long answerBytes(Answer answer) {
            return answer instanceof Answer.Generated generated
                    ? 24L * generated.tokens().size()
                    : 64;
        }
    }

    @Test
    void isNotWhatRemains(@TempDir Path folder) throws IOException {
        Path model = withContext(folder, 2 * LONG);
        EngineConfig config = EngineConfig.of(model)
                .with(new BatchOptions(LONG + 64, SEQUENCES, 512, 0, Math.max(1024, 2 * SEQUENCES)));
        try (Engine engine = Engine.open(config)) {
            List<Integer> small = Collections.nCopies(ROWS, SHORT);
            List<Integer> alike = Collections.nCopies(ROWS + LONG / SHORT, SHORT);
            List<Integer> mixed = new ArrayList<>(small);
            mixed.add(LONG);
            seconds(engine, Collections.nCopies(ROWS / 10, SHORT));
            List<Double> tails = new ArrayList<>();
            for (int repeat = 0; repeat < REPEATS; repeat++) {
                Cost alone = cost(engine, List.of(LONG));
                Cost work = cost(engine, alike);
                Cost shorts = cost(engine, small);
                Cost all = cost(engine, mixed);
                double busy = work.processors / work.seconds;
                double both = alone.processors + shorts.processors;
                double shared = both / busy;
                tails.add(all.seconds / Math.max(shared, Math.max(alone.seconds, work.seconds)));
                System.out.printf(
                        Locale.ROOT,
                        "long row alone %s, all tokens in short rows %s, short rows %s, with the long row %s: %.3f times,"
                                + " %.3f of what both cost the processors%n",
                        alone,
                        work,
                        shorts,
                        all,
                        tails.getLast(),
                        all.processors / both);
            }
            tails.sort(null);
            System.out.printf(Locale.ROOT, "median %.3f times%n", tails.get(REPEATS / 2));
        }
    }

    /** Seconds that rows take, and of all processors. */
    private record Cost(double seconds, double processors) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%.2f s (%.2f s of processors)", seconds, processors);
        }
    }

    private static double processorSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }

    private static Cost cost(Engine engine, List<Integer> rows) {
        double before = processorSeconds();
        double seconds = seconds(engine, rows);
        return new Cost(seconds, processorSeconds() - before);
    }

    private static double seconds(Engine engine, List<Integer> rows) {
        var work = new Work(engine);
        long begin = System.nanoTime();
        long tokens = 0;
        try (var answers = new OrderedRows<>(rows.iterator(), work, new RowPool(2 * SEQUENCES), AHEAD)) {
            while (answers.hasNext()) {
                tokens += ((Answer.Generated) answers.next()).tokens().size();
            }
        }
        assertThat(tokens).isEqualTo(rows.stream().mapToLong(Integer::longValue).sum());
        if (rows.size() > 4 * SEQUENCES && rows.getLast() == LONG) {
            assertThat(work.longBegan).as("rows that began before the long one").isLessThan(4L * SEQUENCES);
        }
        return (System.nanoTime() - begin) / 1e9;
    }

    /** The demo model, said to have a longer context than it was trained for: what it says then is nonsense, what it costs is not. */
    private static Path withContext(Path folder, int context) throws IOException {
        Path demo = BundledModel.named("demo").orElseThrow().unpackInto(folder);
        byte[] bytes = Files.readAllBytes(demo);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        String key = "llama.context_length";
        int value = text.indexOf(key) + key.length() + Integer.BYTES; // behind its type
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(value, context);
        return Files.write(folder.resolve("long.gguf"), bytes);
    }
}
