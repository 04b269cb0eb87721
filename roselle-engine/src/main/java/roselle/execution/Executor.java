package roselle.execution;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.Backend;
import roselle.backend.StepInputs;
import roselle.backend.StepLimits;
import roselle.backend.TokenDraws;
import roselle.batch.Batch;
import roselle.batch.Running;
import roselle.batch.SamplingPlan;
import roselle.batch.StepResult;
import roselle.kvcache.SequencePages;
import roselle.model.Decoder;
import roselle.model.DecoderSpec;
import roselle.sampling.Sampler;
import roselle.sampling.TokenHistory;
import roselle.sampling.TokenMask;

/**
 * Runs batches on one rank: {@link #forward} starts a step, {@link #sample} waits for its logits and draws the tokens.
 *
 * <p>Between the two calls the device works, and the caller may compute what sampling will need. All memory is taken when it
 * is made. It owns the decoder and the backend and closes them.
 */
public final class Executor implements AutoCloseable {
    private final Backend backend;
    private final Decoder decoder;
    private final StepInputs inputs;
    private final StepResult result;
    private final Sampler sampler;
    private final TokenHistory history = new TokenHistory();
    private final Arena arena;
    private final MemorySegment logits; // [maxOutputs, vocabulary]
    private final MemorySegment states; // [maxOutputs, width]
    private final @Nullable TokenScores[] scores; // [maxOutputs], by output
    private final @Nullable TokenDraws draws; // null where the host samples
    private final int[] firstOutput; // [maxSequences]
    private final int[] firstSampled; // [maxSequences]

    private Executor(Backend backend, Decoder decoder, StepLimits limits, Arena arena) {
        this.arena = arena;
        this.backend = backend;
        this.decoder = decoder;
        int vocabulary = decoder.spec().vocabulary();
        inputs = new StepInputs(limits, decoder.spec().kvGroups().size());
        result = new StepResult(limits.maxSequences(), limits.maxOutputs());
        sampler = new Sampler(vocabulary);
        logits = arena.allocate(ValueLayout.JAVA_FLOAT, (long) limits.maxOutputs() * vocabulary);
        states = arena.allocate(
                ValueLayout.JAVA_FLOAT,
                (long) limits.maxOutputs() * decoder.spec().width());
        scores = new @Nullable TokenScores[limits.maxOutputs()];
        draws = backend.draws() ? new TokenDraws(limits.maxOutputs()) : null;
        firstOutput = new int[limits.maxSequences()];
        firstSampled = new int[limits.maxSequences()];
    }

    /** Takes over the decoder and the backend; where it fails, it has not. */
    public static Executor open(Backend backend, Decoder decoder, StepLimits limits) {
        Arena arena = Arena.ofShared();
        try {
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

    /** Host memory beside the decoder's own. */
    public static long hostBytes(StepLimits limits, DecoderSpec spec) {
        return (long) limits.maxOutputs() * (spec.vocabulary() + spec.width()) * Float.BYTES;
    }

    /** Starts a step: page copies, then the decoder; may return before the device is done. */
    public void forward(Batch batch) {
        for (int entry = 0; entry < batch.size(); entry++) {
            copyPages(batch.running(entry).pages());
        }
        batch.fill(inputs);
        decoder.forward(inputs);
    }

    private void copyPages(SequencePages pages) {
        if (pages.needsCopy()) {
            for (int group = 0; group < inputs.pageTable.length; group++) {
                backend.copyPage(decoder.cache(), group, pages.copySource(group), pages.copyTarget(group));
            }
        }
    }

    /** Waits for the step's logits and draws a token from each row that is to be sampled. */
    public StepResult sample(Batch batch) {
        result.clear();
        if (inputs.outputs > 0 && !drawsAll(batch)) {
            backend.read(decoder.logits(), 0, inputs.outputs, logits);
        }
        int output = 0;
        for (int entry = 0; entry < batch.size(); entry++) {
            firstOutput[entry] = output;
            result.beginEntry();
            sampleEntry(batch, entry);
            output += batch.outputs(entry);
        }
        return result;
    }

    /** Lets the device draw the tokens that it can, and says whether no row is left for the host. */
    private boolean drawsAll(Batch batch) {
        if (draws == null) {
            return false;
        }
        int output = 0;
        boolean all = true;
        boolean any = false;
        for (int entry = 0; entry < batch.size(); entry++) {
            int outputs = batch.outputs(entry);
            for (int row = output; row < output + outputs; row++) {
                draws.wanted[row] = false;
            }
            if (outputs == 1 && batch.sampledRows(entry) == 1) {
                ask(draws, output, batch.running(entry));
            }
            any |= outputs == 1 && draws.wanted[output];
            all &= outputs == 0 || (outputs == 1 && draws.wanted[output]);
            output += outputs;
        }
        if (any) {
            backend.draw(decoder.logits(), draws, output);
        }
        return all;
    }

    /** Asks for the token of a row, unless its plan has what a device does not know. */
    private static void ask(TokenDraws draws, int row, Running running) {
        SamplingPlan plan = running.sequence().plan();
        int length = running.sequence().length();
        boolean forbidsStops =
                plan.stopIds.length > 0 && length - running.sequence().promptLength() < plan.minTokens;
        draws.wanted[row] = running.draftCount() == 0
                && !plan.hasPenalties()
                && plan.biasIds.length == 0
                && plan.typicalP >= 1
                && !forbidsStops;
        draws.temperature[row] = plan.temperature;
        draws.topP[row] = plan.topP;
        draws.minP[row] = plan.minP;
        draws.topK[row] = plan.topK;
        draws.seed[row] = plan.seed;
        draws.position[row] = length;
        draws.topLogprobs[row] = plan.topLogprobs;
    }

    /** Takes the token that the device drew. */
    private void take(TokenDraws drawn, int row) {
        if (drawn.failure[row] != TokenDraws.Failure.NONE) {
            result.fail(Sampler.failure(drawn.failure[row], drawn.position[row]));
            return;
        }
        result.append(drawn.token[row]);
        scores[row] = drawn.topLogprobs[row] == TokenDraws.NO_LOGPROBS ? null : new TokenScores(drawn, row);
    }

    private void sampleEntry(Batch batch, int entry) {
        Running running = batch.running(entry);
        SamplingPlan plan = running.sequence().plan();
        int rows = batch.sampledRows(entry);
        int first = firstOutput[entry] + batch.outputs(entry) - rows;
        firstSampled[entry] = first;
        if (draws != null && rows == 1 && draws.wanted[first]) {
            take(draws, first);
            return;
        }
        for (int row = 0; row < rows; row++) {
            history.show(running, row);
            int token = sampler.sample(logits, first + row, plan, history, TokenMask.ALL);
            if (token == Sampler.FAILED) {
                result.fail(sampler.failure());
                return;
            }
            result.append(token);
            scores[first + row] =
                    plan.topLogprobs == SamplingPlan.NO_LOGPROBS ? null : new TokenScores(sampler.report());
            if (row < running.draftCount() && token != running.draft(row)) {
                return;
            }
        }
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
        decoder.close();
        backend.close();
        arena.close();
    }
}
