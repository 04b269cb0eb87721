package roselle.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.LogitChanges;
import roselle.backend.Rows;
import roselle.backend.StepDemands;
import roselle.backend.TokenDraws;

/**
 * Draws tokens from logits on the device ({@code sample.cu}); its memory is taken by {@link #prepare}, or with the first draw.
 *
 * <p>The tokens stay in device memory for the next step, and what was drawn is copied to the host with an event behind it. Two
 * draws may be on their way, so there are two of what the host writes and reads.
 */
final class SampleKernels {
    static final int THREADS = 512;
    static final long EXCHANGE_BYTES = 4096; // of a row and a part
    static final long LIST_BYTES = 8208; // of a row

    private static final int TAKE_THREADS = 256;
    private static final long ROW_BYTES = SampleRowLayout.BYTES;
    private static final long RESULT_BYTES = SampleResultLayout.BYTES;
    private static final int MOST_PARTS = 8;
    private static final int STATIC_SHARED_BYTES = 12 << 10;

    private final Gpu device;
    private final Launcher launcher;
    private final Kernel sample;
    private final Kernel takeTokens;
    private final Flight[] flights = new Flight[2];
    private int turn; // which of the two the last draw used
    private int rows;
    private int vocabulary;
    private long requests;
    private long results;
    private long tokens;
    private long numbers;
    private long counts;
    private long changes;
    private int room; // numbers of changes
    private long exchange;
    private long lists;

    /** One draw on its way. */
    private static final class Flight {
        final long event;
        MemorySegment sent = MemorySegment.NULL;
        MemorySegment returned = MemorySegment.NULL;
        MemorySegment changes = MemorySegment.NULL;
        int count;

        @Nullable
        TokenDraws draws; // null where none is

        Flight(long event) {
            this.event = event;
        }
    }

    SampleKernels(Gpu device, Kernels kernels, Launcher launcher) {
        this.device = device;
        this.launcher = launcher;
        sample = kernels.kernel(KernelSource.SAMPLE, "sample");
        takeTokens = kernels.kernel(KernelSource.SAMPLE, "take_tokens");
        for (int i = 0; i < flights.length; i++) {
            flights[i] = new Flight(device.host().createEvent());
        }
    }

    private void reserve(int maxRows, int width, int maxChanges) {
        if (maxRows <= rows && width == vocabulary && maxChanges <= room) {
            return;
        }
        device.synchronize();
        for (Flight flight : flights) {
            if (rows > 0) {
                device.host().free(flight.sent);
                device.host().free(flight.returned);
                device.host().free(flight.changes);
            }
        }
        rows = maxRows;
        vocabulary = width;
        room = maxChanges;
        for (Flight flight : flights) {
            flight.sent = device.host().allocate(rows * ROW_BYTES);
            flight.returned = device.host().allocate(rows * RESULT_BYTES);
            flight.changes = device.host().allocate((long) room * Integer.BYTES);
        }
        requests = device.memory().allocate(rows * ROW_BYTES);
        results = device.memory().allocate(rows * RESULT_BYTES);
        tokens = device.memory().allocate((long) rows * Integer.BYTES);
        numbers = device.memory().allocate(numberBytes(rows, vocabulary));
        counts = zeros(4L * vocabulary * rows);
        changes = device.memory().allocate((long) room * Integer.BYTES);
        exchange = device.memory().allocate(exchangeBytes());
        lists = zeros(LIST_BYTES * rows);
        launcher.barrier();
    }

    /** Bytes of device memory that draws need. */
    long stepBytes(StepDemands demands) {
        long most = demands.limits().maxOutputs();
        long perRow = ROW_BYTES + RESULT_BYTES + Integer.BYTES + 4L * demands.vocabulary() + LIST_BYTES;
        return most * perRow
                + numberBytes(most, demands.vocabulary())
                + (long) LogitChanges.room(demands.limits()) * Integer.BYTES
                + exchangeBytes();
    }

    /** Takes them. */
    void prepare(StepDemands demands) {
        reserve(demands.limits().maxOutputs(), demands.vocabulary(), LogitChanges.room(demands.limits()));
    }

    /** A row's logits as they are changed, where a block that has all of them cannot hold them itself. */
    private long numberBytes(long count, int width) {
        return isInShared(range(width, 1)) ? 1 : 4L * width * count;
    }

    /** Of rows with several parts each, of which there are no more than multiprocessors; others exchange nothing. */
    private long exchangeBytes() {
        return EXCHANGE_BYTES * device.multiprocessors();
    }

    /** Tokens of one part of a row. */
    private static int range(int width, int parts) {
        return Launcher.cover(Launcher.cover(width, parts), 32) * 32;
    }

    private boolean isInShared(int range) {
        return groupBytes(range) + 4 * range + STATIC_SHARED_BYTES <= device.sharedMemory();
    }

    private static int groupBytes(int range) {
        return 8 * range / 32;
    }

    private long zeros(long bytes) {
        long address = device.memory().allocate(bytes);
        device.driver().clear(address, bytes, device.stream());
        return address;
    }

    /** Draws from the first {@code count} rows; {@link #collect} must follow, after one more launch at most. */
    void launch(Rows logits, TokenDraws draws, int count) {
        reserve(draws.wanted.length, logits.columns(), draws.changes.numbers.length);
        turn = 1 - turn;
        Flight flight = flights[turn];
        if (flight.draws != null) {
            throw new IllegalStateException("two draws are on their way already");
        }
        flight.draws = draws;
        flight.count = count;
        for (int row = 0; row < count; row++) {
            request(draws, row, flight.sent.asSlice(row * ROW_BYTES, ROW_BYTES));
        }
        device.driver().copyIn(requests, flight.sent, count * ROW_BYTES, device.stream());
        int changed = draws.changes.length;
        if (changed > 0) {
            MemorySegment.copy(draws.changes.numbers, 0, flight.changes, JAVA_INT, 0, changed);
            device.driver().copyIn(changes, flight.changes, (long) changed * Integer.BYTES, device.stream());
        }
        launcher.barrier();
        launch(logits, count);
        device.driver().copyOut(flight.returned, results, count * RESULT_BYTES, device.stream());
        launcher.barrier();
        device.driver().recordEvent(flight.event, device.stream());
    }

    /** Waits for a draw and fills in what it drew. */
    void collect(TokenDraws draws) {
        Flight flight = flights[0].draws == draws ? flights[0] : flights[1];
        if (flight.draws != draws) {
            throw new IllegalStateException("these draws were not launched");
        }
        device.driver().awaitEvent(flight.event);
        flight.draws = null;
        for (int row = 0; row < flight.count; row++) {
            if (draws.wanted[row]) {
                result(draws, row, flight.returned.asSlice(row * RESULT_BYTES, RESULT_BYTES));
            }
        }
    }

    /** Puts the tokens that were drawn last into a step's token ids, where its rows take them. */
    void take(StepMemory step, int count) {
        launcher.of(takeTokens)
                .pointer(tokens)
                .pointer(step.drawnRow())
                .pointer(step.tokenIds())
                .integer(count)
                .launch(Launcher.cover(count, TAKE_THREADS), 1, 1, TAKE_THREADS);
    }

    private void request(TokenDraws draws, int row, MemorySegment target) {
        target.fill((byte) 0);
        SampleRowLayout.TEMPERATURE.set(target, draws.wanted[row] ? draws.temperature[row] : -1);
        SampleRowLayout.TOP_P.set(target, draws.topP[row]);
        SampleRowLayout.MIN_P.set(target, draws.minP[row]);
        SampleRowLayout.SEED.set(target, draws.seed[row]);
        SampleRowLayout.POSITION.set(target, draws.position[row]);
        SampleRowLayout.TOP_K.set(target, draws.topK[row]);
        SampleRowLayout.TOP_LOGPROBS.set(target, draws.topLogprobs[row]);
        SampleRowLayout.REPETITION.set(target, 1f); // no repetition penalty
        if (draws.wanted[row] && draws.changes.changes(row)) {
            change(draws.changes, row, target);
        }
    }

    private void change(LogitChanges given, int row, MemorySegment target) {
        int biases = given.biasCount[row];
        SampleRowLayout.HISTORY.set(target, change(given.historyAt[row]));
        SampleRowLayout.BIAS_IDS.set(target, change(given.biasAt[row]));
        SampleRowLayout.BIASES.set(target, change(given.biasAt[row] + biases));
        SampleRowLayout.STOP_IDS.set(target, change(given.stopAt[row]));
        SampleRowLayout.MASK.set(target, given.maskAt[row] == LogitChanges.NO_MASK ? 0 : change(given.maskAt[row]));
        SampleRowLayout.PROMPT_LENGTH.set(target, given.promptLength[row]);
        SampleRowLayout.HISTORY_LENGTH.set(target, given.historyLength[row]);
        SampleRowLayout.BIAS_COUNT.set(target, biases);
        SampleRowLayout.STOP_COUNT.set(target, given.stopCount[row]);
        SampleRowLayout.REPETITION.set(target, given.repetition[row]);
        SampleRowLayout.PRESENCE.set(target, given.presence[row]);
        SampleRowLayout.FREQUENCY.set(target, given.frequency[row]);
    }

    /** Where a number of the changes lies. */
    private long change(int at) {
        return changes + (long) at * Integer.BYTES;
    }

    private void launch(Rows logits, int count) {
        int parts = 1;
        while (parts < MOST_PARTS && parts * 2 * count <= device.multiprocessors() && device.isHopper()) {
            parts *= 2;
        }
        int range = range(vocabulary, parts);
        boolean inShared = isInShared(range);
        boolean hasNumbers = !isInShared(range(vocabulary, 1));
        for (int first = 0; first < count; first += Launcher.MOST_BLOCKS) {
            launcher.of(sample)
                    .rows(logits.from(first))
                    .integer(vocabulary)
                    .pointer(requests + first * ROW_BYTES)
                    .pointer(results + first * RESULT_BYTES)
                    .pointer(tokens + (long) first * Integer.BYTES)
                    .pointer(hasNumbers ? numbers + 4L * first * vocabulary : numbers)
                    .pointer(counts + 4L * first * vocabulary)
                    .pointer(exchange)
                    .pointer(lists + LIST_BYTES * first)
                    .flag(inShared)
                    .shared(groupBytes(range) + (inShared ? 4 * range : 0))
                    .cluster(parts)
                    .launch(parts, Math.min(Launcher.MOST_BLOCKS, count - first), 1, THREADS);
        }
    }

    private static void result(TokenDraws draws, int row, MemorySegment source) {
        draws.token[row] = SampleResultLayout.TOKEN.of(source);
        draws.failure[row] = failure(SampleResultLayout.FAILURE.of(source));
        draws.chosen[row] = SampleResultLayout.CHOSEN.of(source);
        int count = SampleResultLayout.COUNT.of(source);
        draws.count[row] = count;
        int at = row * TokenDraws.MOST_LOGPROBS;
        MemorySegment.copy(source, JAVA_INT, SampleResultLayout.IDS, draws.ids, at, count);
        MemorySegment.copy(source, JAVA_FLOAT, SampleResultLayout.LOGPROBS, draws.logprobs, at, count);
    }

    /** A failure by the number that {@code enum Failure} of {@code sample.cu} gives it. */
    static TokenDraws.Failure failure(int number) {
        return switch (number) {
            case 0 -> TokenDraws.Failure.NONE;
            case 1 -> TokenDraws.Failure.NOT_A_NUMBER;
            case 2 -> TokenDraws.Failure.INFINITE_LOGIT;
            case 3 -> TokenDraws.Failure.NO_FINITE_LOGIT;
            case 4 -> TokenDraws.Failure.NONE_ALLOWED;
            case 5 -> TokenDraws.Failure.INFINITE_CHANGE;
            default -> throw new IllegalStateException("the sampler failed in way " + number);
        };
    }
}
