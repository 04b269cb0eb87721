package roselle.execution;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.backend.Device;
import roselle.backend.Phase;
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
 * Runs batches on one rank: {@link #forward} starts a step, {@link #sample} waits for it and has its tokens.
 *
 * <p>Between the two calls the device works, and the caller may compute what sampling will need. Where the device draws all
 * tokens of a step, {@link #mayGoAhead}, one more step may be started before this one is sampled. All memory is taken when it is
 * made. It owns the decoder and the backend and closes them.
 */
public final class Executor implements AutoCloseable {
    private final Device backend;
    private final Decoder decoder;
    private final StepInputs inputs;
    private final Flight[] flights; // used in turn
    private final StepResult result;
    private final Sampler sampler;
    private final TokenHistory history = new TokenHistory();
    private final Arena arena;
    private final MemorySegment logits; // [maxOutputs, vocabulary]
    private final MemorySegment states; // [maxOutputs, width]
    private final @Nullable TokenScores[] scores; // [maxOutputs], by output
    private final int[] firstOutput; // [maxSequences]
    private final int[] firstSampled; // [maxSequences]
    private int started; // steps
    private int sampled;

    /** What the device draws of a step on its way. */
    private static final class Flight {
        final @Nullable TokenDraws draws; // null where the host samples
        boolean drawsAny;
        boolean drawsAll;
        boolean remembers; // whether a draw depends on the tokens before it

        Flight(@Nullable TokenDraws draws) {
            this.draws = draws;
        }
    }

    private Executor(Device backend, Decoder decoder, StepLimits limits, Arena arena) {
        this.arena = arena;
        this.backend = backend;
        this.decoder = decoder;
        int vocabulary = decoder.spec().vocabulary();
        inputs = new StepInputs(limits, decoder.spec().kvGroups().size());
        flights = new Flight[backend.draws() ? 2 : 1];
        for (int i = 0; i < flights.length; i++) {
            flights[i] = new Flight(backend.draws() ? new TokenDraws(limits) : null);
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

    /** Whether the device draws tokens itself. */
    public boolean draws() {
        return backend.draws();
    }

    /** How long parts of opening the device and of loading took, as far as it tells. */
    public List<Phase> phases() {
        return backend.phases();
    }

    /** Host memory beside the decoder's own. */
    public static long hostBytes(StepLimits limits, DecoderSpec spec) {
        return (long) limits.maxOutputs() * (spec.vocabulary() + spec.width()) * Float.BYTES;
    }

    /** Starts a step: page copies, the decoder, then the draws that the device can do; may return before it is done. */
    public void forward(Batch batch) {
        Flight flight = flights[started++ % flights.length];
        for (int entry = 0; entry < batch.size(); entry++) {
            if (batch.needsCopy(entry)) {
                copyPages(batch.running(entry).pages());
            }
        }
        batch.fill(inputs);
        backend.submit(inputs, decoder);
        launchDraws(batch, flight);
    }

    private void copyPages(SequencePages pages) {
        for (int group = 0; group < inputs.pageTable.length; group++) {
            backend.copyPage(decoder.cache(), group, pages.copySource(group), pages.copyTarget(group));
        }
    }

    /**
     * Whether the device draws every token of the step that was started last, and what it draws next does not depend on them but
     * through the decoder: then the next one may be started.
     */
    public boolean mayGoAhead() {
        Flight last = flights[(started - 1) % flights.length];
        return last.drawsAll && !last.remembers;
    }

    /** Waits for the step that was started first and takes or draws a token from each row that is to be sampled. */
    public StepResult sample(Batch batch) {
        Flight flight = flights[sampled++ % flights.length];
        result.clear();
        if (flight.draws != null && flight.drawsAny) {
            backend.collectDraw(flight.draws);
        }
        if (batch.totalOutputs() > 0 && !flight.drawsAll) {
            backend.read(decoder.logits(), 0, batch.totalOutputs(), logits);
        }
        int output = 0;
        for (int entry = 0; entry < batch.size(); entry++) {
            firstOutput[entry] = output;
            result.beginEntry();
            if (!batch.isDropped(entry)) {
                sampleEntry(batch, entry, flight);
            }
            output += batch.outputs(entry);
        }
        return result;
    }

    /** Waits for the steps that were started and are of no interest any more. */
    public void settle() {
        for (; sampled < started; sampled++) {
            Flight flight = flights[sampled % flights.length];
            if (flight.draws != null && flight.drawsAny) {
                backend.collectDraw(flight.draws);
            }
        }
    }

    /** Lets the device draw the tokens that it can. */
    private void launchDraws(Batch batch, Flight flight) {
        flight.drawsAny = false;
        flight.drawsAll = false;
        flight.remembers = false;
        TokenDraws draws = flight.draws;
        if (draws == null) {
            return;
        }
        draws.changes.clear();
        int output = 0;
        boolean all = true;
        for (int entry = 0; entry < batch.size(); entry++) {
            int outputs = batch.outputs(entry);
            for (int row = output; row < output + outputs; row++) {
                draws.wanted[row] = false;
            }
            boolean isDrawn =
                    outputs == 1 && batch.sampledRows(entry) == 1 && DrawRequests.ask(draws, output, batch, entry);
            flight.remembers |= isDrawn && draws.changes.punishes(output);
            flight.drawsAny |= isDrawn;
            all &= outputs == 0 || isDrawn;
            output += outputs;
        }
        flight.drawsAll = all && flight.drawsAny;
        if (flight.drawsAny) {
            backend.launchDraw(decoder.logits(), draws, output);
        }
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

    private void sampleEntry(Batch batch, int entry, Flight flight) {
        Running running = batch.running(entry);
        SamplingPlan plan = running.sequence().plan();
        int rows = batch.sampledRows(entry);
        int first = firstOutput[entry] + batch.outputs(entry) - rows;
        firstSampled[entry] = first;
        if (flight.draws != null && rows == 1 && flight.draws.wanted[first]) {
            take(flight.draws, first);
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
        backend.close(); // first: a step may still be on its way after a failure
        decoder.close();
        arena.close();
    }
}
