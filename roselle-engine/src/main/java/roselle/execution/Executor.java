package roselle.execution;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.api.FailureKind;
import roselle.backend.Device;
import roselle.backend.Phase;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.batch.Batch;
import roselle.batch.Running;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.kvcache.SequencePages;
import roselle.model.Decoder;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.AdaptableWeights;
import roselle.sampling.Sampler;

/**
 * Runs batches on one rank: {@link #forward} starts a step, {@link #launchSample} says how its tokens are to be sampled, and
 * {@link #collectSample} waits for them.
 *
 * <p>While a device that samples computes the logits, the host puts the masks of constrained sequences into the rows. One that does not
 * is told the masks before, and computes no logits that they forbid. Where the device samples,
 * {@link #mayGoAhead}, one more step may be started before the tokens of this one are collected. All memory is taken when it is made.
 * It owns the decoder and the backend and closes them.
 */
public final class Executor implements AutoCloseable {
    private final Device backend;
    private final Decoder decoder;
    private final StepInputs inputs;
    private final InFlightStep[] steps; // used in turn
    private final StepResult result;
    private final Sampler sampler;
    private final Arena arena;
    private final MemorySegment logits; // [maxOutputs, vocabulary]
    private final MemorySegment states; // [maxOutputs, width]
    private final @Nullable TokenScores[] scores; // [maxOutputs], by output
    private final int[] firstOutput; // [maxSequences]
    private final int[] firstSampled; // [maxSequences]
    private int started; // steps
    private int sampled;

    /** A step whose tokens are on their way. */
    private static final class InFlightStep {
        final SamplingRows rows;
        final SampledTokens tokens;
        boolean isLaunched; // whether the device was given rows
        boolean isRead; // whether the host reads what the decoder left, so that no step may be started before it has

        InFlightStep(StepLimits limits) {
            rows = new SamplingRows(limits);
            tokens = new SampledTokens(limits.maxOutputs());
        }
    }

    private Executor(Device backend, Decoder decoder, StepLimits limits, Arena arena) {
        this.arena = arena;
        this.backend = backend;
        this.decoder = decoder;
        int vocabulary = decoder.spec().vocabulary();
        inputs = new StepInputs(limits, decoder.spec().kvGroups().size());
        steps = new InFlightStep[backend.samples() ? 2 : 1];
        for (int i = 0; i < steps.length; i++) {
            steps[i] = new InFlightStep(limits);
        }
        result = new StepResult(limits.maxSequences(), limits.maxOutputs());
        sampler = new Sampler(vocabulary);
        logits = arena.allocate(ValueLayout.JAVA_FLOAT, (long) limits.maxOutputs() * vocabulary);
        states = arena.allocate(
                ValueLayout.JAVA_FLOAT,
                (long) limits.maxOutputs() * decoder.spec().width());
        scores = new @Nullable TokenScores[limits.maxOutputs()];
        firstOutput = new int[limits.maxSequences()];
        firstSampled = new int[limits.maxSequences()];
    }

    /** Takes over the decoder and the backend; where it fails, it has not. */
    public static Executor open(Device backend, Decoder decoder, StepLimits limits) {
        Arena arena = Arena.ofShared();
        try {
            backend.prepare(decoder.spec().demands(limits, decoder.cache().type()));
            return new Executor(backend, decoder, limits, arena);
        } catch (Throwable failure) {
            arena.close();
            throw failure;
        }
    }

    /** What runs it, and how. */
    public String device() {
        return backend.describe();
    }

    /** Whether the device samples tokens itself. */
    public boolean samples() {
        return backend.samples();
    }

    /** How long parts of opening the device and of loading took, as far as it tells. */
    public List<Phase> phases() {
        return backend.phases();
    }

    /** What adapters of its decoder can add to. */
    public AdaptableWeights adaptable() {
        return decoder.adaptable();
    }

    /** Where its decoder is. */
    public Device adaptingDevice() {
        return backend;
    }

    /** Whether memory of pages can be given back, {@link #lend}. */
    public boolean givesPagesBack() {
        return backend.givesPagesBack();
    }

    /** Gives the memory of pages of a group back, {@link Device#givePagesBack}. */
    public void lend(int group, int[] pages) {
        backend.givePagesBack(decoder.cache(), group, pages);
    }

    /** Has it again, {@link Device#takePagesBack}. */
    public void takeBack(int group, int[] pages) {
        backend.takePagesBack(decoder.cache(), group, pages);
    }

    /** Whether the device can give up all that it has of its own memory, {@link Device#sleep}. */
    public boolean sleeps() {
        return backend.sleeps();
    }

    /** Gives up the device's memory where it can; pages have been lent before. */
    public void sleep() {
        if (backend.sleeps()) {
            backend.sleep();
        }
    }

    /** Has it again. */
    public void wake() {
        if (backend.sleeps()) {
            backend.wake();
        }
    }

    /** Host memory beside the decoder's own. */
    public static long hostBytes(StepLimits limits, DecoderSpec spec) {
        return (long) limits.maxOutputs() * (spec.vocabulary() + spec.width()) * Float.BYTES;
    }

    /** Starts a step, page copies and the decoder; may return before it is done. {@link #launchSample} must follow. */
    public void forward(Batch batch) {
        for (int entry = 0; entry < batch.size(); entry++) {
            if (batch.needsCopy(entry)) {
                copyPages(batch.running(entry).pages());
            }
        }
        batch.fill(inputs);
        if (!backend.samples()) {
            fillRows(batch);
            wantAllowed(steps[(started - 1) % steps.length].rows);
        }
        backend.submit(inputs, decoder);
    }

    /** Has the device compute the logits that masks allow; the log-probabilities of a row need all of it. */
    private void wantAllowed(SamplingRows rows) {
        for (int row = 0; row < rows.count; row++) {
            if (rows.topLogprobs[row] == SamplingRows.NO_LOGPROBS) {
                inputs.wanted[row] = rows.mask[row];
            }
        }
    }

    private void copyPages(SequencePages pages) {
        for (int group = 0; group < inputs.pageTable.length; group++) {
            backend.copyPage(decoder.cache(), group, pages.copySource(group), pages.copyTarget(group));
        }
    }

    /**
     * Whether the next step may be started before the tokens of the last one are collected: whether the device samples, and the host
     * then reads nothing that the decoder will have overwritten.
     */
    public boolean mayGoAhead() {
        return backend.samples() && !steps[(started - 1) % steps.length].isRead;
    }

    /**
     * Whether a step that was planned ahead needs the tokens of the step before for its sampling, beside its input: penalties and
     * masks do. Its {@link #launchSample} must then wait for them; its {@link #forward} need not.
     */
    public boolean samplesByTokensUnderWay(Batch ahead) {
        for (int entry = 0; entry < ahead.size(); entry++) {
            if (ahead.takesSampled(entry) && ahead.sequence(entry).samplesByHistory()) {
                return true;
            }
        }
        return false;
    }

    /** Fills the rows of the step whose {@link #forward} was called last, and starts the sampling that the device can do. */
    public void launchSample(Batch batch) {
        if (!backend.samples()) {
            return; // forward has filled them
        }
        InFlightStep step = fillRows(batch);
        if (step.isLaunched) {
            backend.launchSample(decoder.logits(), step.rows, step.tokens);
        }
    }

    private InFlightStep fillRows(Batch batch) {
        InFlightStep step = steps[started++ % steps.length];
        SamplingRows rows = step.rows;
        rows.begin(batch.totalOutputs());
        step.isRead = false;
        int output = 0;
        for (int entry = 0; entry < batch.size(); entry++) {
            int outputs = batch.outputs(entry);
            if (!batch.isDropped(entry)) {
                fillRows(rows, output + outputs - batch.sampledRows(entry), batch, entry);
                step.isRead |=
                        batch.promptOutputs(entry) > 0 || batch.sequence(entry).plan().embedsPrompt;
            }
            output += outputs;
        }
        int hostRows = rows.hostRows();
        rows.returnsLogits = backend.samples() && !step.isRead && hostRows > 0 && hostRows <= SamplingRows.MAX_RETURNED;
        step.isRead |= hostRows > 0 && !rows.returnsLogits;
        step.isLaunched = rows.deviceRows() > 0 || rows.returnsLogits;
        return step;
    }

    /** Fills the rows of an entry from {@code first} on, and settles who samples them. */
    private void fillRows(SamplingRows rows, int first, Batch batch, int entry) {
        int sampledRows = batch.sampledRows(entry);
        for (int i = 0; i < sampledRows; i++) {
            fillRow(rows, first + i, batch, entry, i);
            if (sampledRows == 1 && backend.samples()) {
                rows.settlePlace(first);
            } else {
                rows.leaveToHost(first + i);
            }
        }
        if (sampledRows == 1 && rows.place[first] == SamplingRows.Place.DEVICE) {
            batch.recordSampledOnDevice(entry);
        }
    }

    /** Fills the row after the entry's last known token and so many of its drafts. */
    private static void fillRow(SamplingRows rows, int row, Batch batch, int entry, int drafts) {
        Running running = batch.running(entry);
        Sequence sequence = running.sequence();
        int position = batch.endPosition(entry) - batch.sampledRows(entry) + 1 + drafts;
        int[] ids = drafts == 0 ? sequence.ids() : running.idsWithDrafts(drafts);
        sequence.plan().fill(rows, row, ids, sequence.promptLength(), position);
        rows.mask[row] = sequence.constraint().mask(ids, position);
    }

    /** Waits for the step that was started first and takes or samples a token from each row that is to be sampled. */
    public StepResult collectSample(Batch batch) {
        InFlightStep step = steps[sampled++ % steps.length];
        result.clear();
        if (step.isLaunched) {
            backend.collectSample(step.tokens);
        }
        if (step.isRead) {
            backend.read(decoder.logits(), 0, batch.totalOutputs(), logits);
        }
        int output = 0;
        for (int entry = 0; entry < batch.size(); entry++) {
            firstOutput[entry] = output;
            firstSampled[entry] = output + batch.outputs(entry) - batch.sampledRows(entry);
            result.beginEntry();
            if (!batch.isDropped(entry)) {
                takeTokens(batch, entry, step);
            }
            output += batch.outputs(entry);
        }
        step.rows.clear();
        return result;
    }

    /** Waits for the steps that were started and are of no interest any more. */
    public void settle() {
        for (; sampled < started; sampled++) {
            InFlightStep step = steps[sampled % steps.length];
            if (step.isLaunched) {
                backend.collectSample(step.tokens);
            }
        }
    }

    /** Takes the tokens of an entry's rows, those of drafts as long as the drafts were right. */
    private void takeTokens(Batch batch, int entry, InFlightStep step) {
        Running running = batch.running(entry);
        int first = firstSampled[entry];
        for (int i = 0; i < batch.sampledRows(entry); i++) {
            int row = first + i;
            if (step.rows.place[row] == SamplingRows.Place.HOST) {
                boolean isReturned = step.rows.returnsLogits;
                MemorySegment source = isReturned ? step.tokens.logits[row] : logits;
                sampler.sample(source, isReturned ? 0 : row, step.rows, row, step.tokens);
            }
            if (step.tokens.failure[row] != SampledTokens.Failure.NONE) {
                fail(running.sequence(), step.tokens.failure[row], step.rows.position[row]);
                return;
            }
            int token = step.tokens.token[row];
            boolean reports = step.rows.topLogprobs[row] != SamplingRows.NO_LOGPROBS;
            result.append(token);
            scores[row] = reports ? new TokenScores(step.tokens, row) : null;
            if (i < running.draftCount() && token != running.draft(i)) {
                return;
            }
        }
    }

    /** A model that says nothing is ours; what leaves it nothing to say is the request's. */
    private void fail(Sequence sequence, SampledTokens.Failure failure, int position) {
        String constraint = sequence.constraint().failure();
        FailureKind kind =
                failure == SampledTokens.Failure.NONE_ALLOWED ? FailureKind.INVALID_REQUEST : FailureKind.INTERNAL;
        result.fail(kind, constraint.isEmpty() ? Sampler.failure(failure, position) : constraint);
    }

    /** The log-probabilities of a sampled token of the last step, or null where they were not asked for. */
    public @Nullable TokenScores scores(int entry, int index) {
        return scores[firstSampled[entry] + index];
    }

    /**
     * Scores the prompt tokens that follow the entry's prompt rows of this step; call before the step is committed.
     *
     * @return why it could not, or null
     */
    public @Nullable String scorePrompt(Batch batch, int entry, PromptScores target) {
        Running running = batch.running(entry);
        int[] ids = running.sequence().ids();
        int outputs = batch.outputs(entry);
        int firstPosition = running.computed() + batch.rows(entry) - outputs;
        int top = Math.max(0, running.sequence().plan().topLogprobs);
        int last = running.sequence().promptLength() - 1;
        for (int row = 0; row < outputs && firstPosition + row < last; row++) {
            int position = firstPosition + row + 1;
            if (!sampler.score(logits, firstOutput[entry] + row, position, ids[position], top)) {
                return sampler.failure();
            }
            target.put(position, new TokenScores(sampler.report()));
        }
        return null;
    }

    /** Adds the last hidden states of the entry's prompt rows of this step; call before the step is committed. */
    public void addStates(Batch batch, int entry, PromptEmbedding target) {
        int outputs = batch.outputs(entry);
        if (outputs == 0) {
            return;
        }
        backend.read(decoder.states(), firstOutput[entry], outputs, states);
        int firstPosition = batch.running(entry).computed() + batch.rows(entry) - outputs;
        for (int row = 0; row < outputs; row++) {
            target.add(firstPosition + row, states, row);
        }
    }

    /** How many numbers a hidden state has. */
    public int width() {
        return decoder.spec().width();
    }

    @Override
    public void close() {
        Arrays.fill(scores, null);
        backend.close(); // first: a step may still be on its way after a failure
        decoder.close();
        arena.close();
    }
}
