package roselle.cuda.sampling;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.layout.SampleResultLayout;
import roselle.cuda.layout.SampleRowLayout;
import roselle.cuda.memory.Gpu;
import roselle.cuda.row.RowKernels;
import roselle.cuda.step.StepMemory;

/**
 * Samples tokens from logits on the device ({@code sample.cu}); its memory is taken by {@link #prepare}, or with the first rows.
 *
 * <p>The tokens stay in device memory for the next step, and what was sampled is copied to the host with an event behind it. The
 * tokens of two steps may be on their way, so there are two of what the host writes and reads.
 */
public final class SampleKernels {
    public static final int THREADS = 512;
    public static final long EXCHANGE_BYTES = 4096; // of a row and a part
    public static final long LIST_BYTES = 8208; // of a row

    private static final int RECEIVE_THREADS = 256;
    private static final long ROW_BYTES = SampleRowLayout.BYTES;
    private static final long RESULT_BYTES = SampleResultLayout.BYTES;
    private static final int MAX_PARTS = 8;
    private static final int MAX_ROWS_OF_LARGEST =
            12; // with as many parts, as measured on an H200 (docs/performance.md)
    private static final int STATIC_SHARED_BYTES = 12 << 10;

    private final Gpu device;
    private final Launcher launcher;
    private final Kernel sample;
    private final Kernel receive;
    private final InFlightSample[] inFlight = new InFlightSample[2];
    private int turn; // which of the two was launched last
    private int rows;
    private int vocabulary;
    private long requests;
    private long tokens;
    private long numbers;
    private long counts;
    private long changes; // numbers of varying length
    private int room; // for so many
    private long exchange;
    private long lists;
    private @Nullable DeviceMasks masks;

    /** The tokens of one step on their way. */
    private static final class InFlightSample {
        final long event;
        SampleRequests requests = new SampleRequests(MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL);
        MemorySegment returned = MemorySegment.NULL;
        MemorySegment logits = MemorySegment.NULL; // [MAX_RETURNED, vocabulary] of the host's rows

        @Nullable
        SamplingRows rows;

        @Nullable
        SampledTokens tokens; // null where none are

        InFlightSample(long event) {
            this.event = event;
        }
    }

    public SampleKernels(Gpu device, Kernels kernels, Launcher launcher) {
        this.device = device;
        this.launcher = launcher;
        sample = kernels.kernel(KernelSource.SAMPLE, "sample");
        receive = kernels.kernel(KernelSource.SAMPLE, "receive");
        for (int i = 0; i < inFlight.length; i++) {
            inFlight[i] = new InFlightSample(device.host().createEvent());
        }
    }

    private void reserve(int maxRows, int width, int maxChanges) {
        if (maxRows <= rows && width == vocabulary && maxChanges <= room) {
            return;
        }
        device.synchronize();
        for (InFlightSample sample : inFlight) {
            if (rows > 0) {
                device.host().free(sample.requests.structs());
                device.host().free(sample.requests.numbers());
                device.host().free(sample.requests.masks());
                device.host().free(sample.returned);
                device.host().free(sample.logits);
            }
        }
        rows = maxRows;
        vocabulary = width;
        room = maxChanges;
        for (InFlightSample sample : inFlight) {
            MemorySegment structs = device.host().allocate(rows * ROW_BYTES);
            MemorySegment varying = device.host().allocate((long) room * Integer.BYTES);
            MemorySegment waiting = device.host().allocate(DeviceMasks.hostBytes(rows, vocabulary));
            sample.requests = new SampleRequests(structs, varying, waiting);
            sample.returned = device.host().allocate(rows * RESULT_BYTES);
            sample.logits = device.host().allocate(SamplingRows.MAX_RETURNED * logitBytes());
        }
        requests = device.memory().allocate(rows * ROW_BYTES);
        tokens = device.memory().allocate((long) rows * Integer.BYTES);
        numbers = device.memory().allocateScratch(numberBytes(rows, vocabulary));
        counts = zeros(4L * vocabulary * rows);
        changes = device.memory().allocate((long) room * Integer.BYTES);
        exchange = device.memory().allocate(exchangeBytes());
        lists = zeros(LIST_BYTES * rows);
        masks = new DeviceMasks(device, rows, vocabulary);
        launcher.barrier();
    }

    /** Bytes of device memory that sampling needs. */
    public long stepBytes(StepDemands demands) {
        if (demands.vocabulary() == 0) {
            return 0;
        }
        long most = demands.limits().maxOutputs();
        long perRow = ROW_BYTES + Integer.BYTES + 4L * demands.vocabulary() + LIST_BYTES;
        return most * perRow
                + numberBytes(most, demands.vocabulary())
                + (long) SamplingRows.room(demands.limits()) * Integer.BYTES
                + DeviceMasks.deviceBytes(most, demands.vocabulary())
                + exchangeBytes();
    }

    /** Takes them. */
    public void prepare(StepDemands demands) {
        if (demands.vocabulary() != 0) {
            reserve(demands.limits().maxOutputs(), demands.vocabulary(), SamplingRows.room(demands.limits()));
        }
    }

    /** Has to bring all masks anew: the device gave its memory up. */
    public void forget() {
        if (masks != null) {
            masks.forget();
        }
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

    /** What kernels leave as zeros, which it is again when its memory was given up and came back. */
    private long zeros(long bytes) {
        long address = device.memory().allocateScratch(bytes);
        device.driver().clear(address, bytes, device.stream());
        return address;
    }

    /** Samples the rows that are the device's; {@link #collect} must follow, after one more launch at most. */
    public void launch(Rows logits, SamplingRows asked, SampledTokens tokens) {
        reserve(asked.maxRows(), logits.columns(), asked.room());
        turn = 1 - turn;
        InFlightSample sample = inFlight[turn];
        if (sample.tokens != null) {
            throw new IllegalStateException("the tokens of two steps are on their way already");
        }
        sample.rows = asked;
        sample.tokens = tokens;
        if (asked.deviceRows() > 0) {
            DeviceMasks held = Objects.requireNonNull(masks);
            sample.requests.fill(asked, changes, held);
            bring(sample.requests, asked.count, held);
            launch(logits, asked.count, sample.returned);
        }
        if (asked.returnsLogits) {
            returnLogits(logits, asked, sample.logits, tokens);
        }
        launcher.barrier();
        device.driver().recordEvent(sample.event, device.stream());
    }

    /** Lets the logits of the host's rows follow the tokens. */
    private void returnLogits(Rows logits, SamplingRows asked, MemorySegment target, SampledTokens tokens) {
        long returned = 0;
        for (int row = 0; row < asked.count; row++) {
            if (asked.place[row] == SamplingRows.Place.HOST) {
                tokens.logits[row] = target.asSlice(returned, logitBytes());
                device.driver().copyOut(tokens.logits[row], RowKernels.row(logits, row), logitBytes(), device.stream());
                returned += logitBytes();
            }
        }
    }

    private long logitBytes() {
        return (long) vocabulary * Float.BYTES;
    }

    /** Brings rows and what they name. */
    private void bring(SampleRequests asked, int count, DeviceMasks held) {
        long bytes = asked.numberBytes();
        if (bytes > 0) {
            device.driver().copyIn(changes, asked.numbers(), bytes, device.stream());
        }
        held.bring(asked.masks());
        launcher.barrier();
        receive(asked.structs().address(), requests, Math.toIntExact(count * ROW_BYTES / Integer.BYTES), 0, 0);
    }

    /** Waits for the tokens and fills them in. */
    public void collect(SampledTokens tokens) {
        InFlightSample sample = inFlight[0].tokens == tokens ? inFlight[0] : inFlight[1];
        SamplingRows asked = sample.rows;
        if (sample.tokens != tokens || asked == null) {
            throw new IllegalStateException("no sampling of these tokens was launched");
        }
        device.driver().awaitEvent(sample.event);
        sample.rows = null;
        sample.tokens = null;
        for (int row = 0; row < asked.count; row++) {
            if (asked.place[row] == SamplingRows.Place.DEVICE) {
                result(tokens, row, sample.returned.asSlice(row * RESULT_BYTES, RESULT_BYTES));
            }
        }
    }

    /** Brings a step to the device, and the tokens that were sampled last into the token ids of those rows that take them. */
    public void receive(StepMemory step, StepInputs inputs) {
        int taking = inputs.takesSampled ? inputs.rows : 0;
        receive(step.source(), step.tokenIds(), step.numbers(), taking, step.sampledRowAt());
        launcher.barrier(); // kernels read where rows stand before the one ahead of them has ended
    }

    private void receive(long source, long target, int count, int taking, int sampledAt) {
        launcher.of(receive)
                .pointer(source)
                .pointer(target)
                .integer(count)
                .integer(taking)
                .integer(sampledAt)
                .pointer(tokens)
                .launch(Launcher.cover(count, RECEIVE_THREADS), 1, 1, RECEIVE_THREADS);
    }

    private void launch(Rows logits, int count, MemorySegment returned) {
        int parts = parts(count);
        int range = range(vocabulary, parts);
        boolean inShared = isInShared(range);
        boolean hasNumbers = !isInShared(range(vocabulary, 1));
        for (int first = 0; first < count; first += Launcher.MAX_BLOCKS) {
            launcher.of(sample)
                    .rows(logits.from(first))
                    .integer(vocabulary)
                    .pointer(requests + first * ROW_BYTES)
                    .pointer(returned.address() + first * RESULT_BYTES)
                    .pointer(tokens + (long) first * Integer.BYTES)
                    .pointer(hasNumbers ? numbers + 4L * first * vocabulary : numbers)
                    .pointer(counts + 4L * first * vocabulary)
                    .pointer(exchange)
                    .pointer(lists + LIST_BYTES * first)
                    .flag(inShared)
                    .shared(groupBytes(range) + (inShared ? 4 * range : 0))
                    .cluster(parts)
                    .launch(parts, Math.min(Launcher.MAX_BLOCKS, count - first), 1, THREADS);
        }
    }

    /** Blocks of a row, which are a cluster: as many as run at once. Not all multiprocessors find seven others of their part of a GPU. */
    private int parts(int count) {
        int parts = 1;
        while (device.isHopper() && parts < MAX_PARTS && parts * 2 * count <= device.multiprocessors()) {
            parts *= 2;
        }
        return parts == MAX_PARTS && count > MAX_ROWS_OF_LARGEST ? parts / 2 : parts;
    }

    private static void result(SampledTokens tokens, int row, MemorySegment source) {
        tokens.token[row] = SampleResultLayout.TOKEN.of(source);
        tokens.failure[row] = failure(SampleResultLayout.FAILURE.of(source));
        tokens.chosen[row] = SampleResultLayout.CHOSEN.of(source);
        int count = SampleResultLayout.COUNT.of(source);
        tokens.count[row] = count;
        int at = row * SampledTokens.MAX_LOGPROBS;
        MemorySegment.copy(source, JAVA_INT, SampleResultLayout.IDS, tokens.ids, at, count);
        MemorySegment.copy(source, JAVA_FLOAT, SampleResultLayout.LOGPROBS, tokens.logprobs, at, count);
    }

    /** A failure by the number that {@code enum Failure} of {@code sample.cu} gives it. */
    public static SampledTokens.Failure failure(int number) {
        return switch (number) {
            case 0 -> SampledTokens.Failure.NONE;
            case 1 -> SampledTokens.Failure.NOT_A_NUMBER;
            case 2 -> SampledTokens.Failure.INFINITE_LOGIT;
            case 3 -> SampledTokens.Failure.NO_FINITE_LOGIT;
            case 4 -> SampledTokens.Failure.NONE_ALLOWED;
            case 5 -> SampledTokens.Failure.INFINITE_CHANGE;
            default -> throw new IllegalStateException("the sampler failed in way " + number);
        };
    }
}
