package roselle.embedding;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.backend.Device;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.model.Decoder;
import roselle.model.KvPages;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.Blueprint;

/**
 * An encoder on a device: texts in, last hidden states out, many texts in a step without padding.
 *
 * <p>Each text is computed whole, from nothing: its pages are its own for the step, one behind the other. What a text gives depends on
 * no other text of the step.
 */
final class EncoderModel implements AutoCloseable {
    static final int PAGE_TOKENS = 16;

    private final Device device;
    private final Decoder decoder;
    private final StepLimits limits;
    private final StepInputs inputs;
    private final List<Adapter> tasks;
    private final Arena arena;
    private final MemorySegment states; // [maxRows, width]
    private final int[] firstOutput; // of each text, and the end of the last one's; [maxTexts + 1]

    private EncoderModel(Device device, Decoder decoder, StepLimits limits, List<Adapter> tasks) {
        this.tasks = List.copyOf(tasks);
        this.device = device;
        this.decoder = decoder;
        this.limits = limits;
        inputs = new StepInputs(limits, decoder.spec().kvGroups().size());
        arena = Arena.ofShared();
        firstOutput = new int[limits.maxSequences() + 1];
        states = arena.allocate(ValueLayout.JAVA_FLOAT, (long) limits.maxRows() * width());
    }

    /** The steps of an encoder with up to so many tokens of so many texts, each of up to {@code context} tokens. */
    static StepLimits limits(int rows, int texts, int context) {
        return new StepLimits(rows, texts, rows, context, PAGE_TOKENS);
    }

    /** The pages of the largest step. */
    static KvPages pages(DecoderSpec spec, StepLimits limits, Device device) {
        int pages = limits.maxRows() / PAGE_TOKENS + limits.maxSequences();
        return new KvPages(
                KvType.of(device.activationType()),
                Collections.nCopies(spec.kvGroups().size(), pages));
    }

    /** Loads an encoder onto a device, which stays the caller's; the blueprint has no logits. */
    static EncoderModel open(
            Checkpoint checkpoint, Blueprint blueprint, Device device, StepLimits limits, LongConsumer loaded) {
        DecoderSpec spec = blueprint.spec();
        boolean needsMore = spec.isBidirectional() || spec.input().types() > 0;
        if (needsMore && !device.attendsBothWays()) {
            throw new DeviceException("the device " + device.name() + " runs no encoders such as " + spec.architecture()
                    + ": use the device cpu");
        }
        Decoder decoder = Decoder.open(checkpoint, blueprint, device, limits, pages(spec, limits, device), loaded);
        try {
            device.prepare(spec.demands(limits, KvType.of(device.activationType())));
            return new EncoderModel(device, decoder, limits, TaskAdapters.load(checkpoint, decoder, device));
        } catch (Throwable failure) {
            decoder.close();
            throw failure;
        }
    }

    DecoderSpec spec() {
        return decoder.spec();
    }

    /** Numbers of a row that a step leaves: hidden ones, or logits of masked tokens. */
    int width() {
        DecoderSpec spec = decoder.spec();
        return spec.generates() ? spec.vocabulary() : spec.width();
    }

    /** Runs a step of some texts, which must not be more than the limits allow, and has what it leaves of all tokens. */
    void run(List<EncoderInput> texts) {
        run(texts, Collections.nCopies(texts.size(), null));
    }

    /** The same, of each text with those tokens alone that its output needs; of all where it is null. */
    void run(List<EncoderInput> texts, List<? extends @Nullable EncoderOutput> outputs) {
        int row = 0;
        int page = 0;
        int wanted = 0;
        inputs.rowStart[0] = 0;
        inputs.adapts = false;
        for (int s = 0; s < texts.size(); s++) {
            EncoderInput text = texts.get(s);
            EncoderOutput output = outputs.get(s);
            boolean takesFirst = output != null && output.takesFirst();
            boolean takesLast = output != null && output.takesLast();
            for (int token = 0; token < text.length(); token++) {
                inputs.tokenIds[row] = text.id(token);
                inputs.types[row] = text.type(token);
                inputs.positions[row] = token;
                boolean isWanted = takesFirst ? token == 0 : !takesLast || token == text.length() - 1;
                if (isWanted) {
                    inputs.outputRow[wanted++] = row;
                }
                row++;
            }
            inputs.adapter[s] = text.task() == EncoderInput.NO_TASK ? null : tasks.get(text.task());
            inputs.adapts |= inputs.adapter[s] != null;
            inputs.contextLength[s] = 0;
            inputs.rowStart[s + 1] = row;
            firstOutput[s + 1] = wanted;
            page = fillPages(s, text.length(), page);
        }
        inputs.rows = row;
        inputs.outputs = wanted;
        inputs.sequences = texts.size();
        device.submit(inputs, decoder);
        device.read(decoder.spec().generates() ? decoder.logits() : decoder.states(), 0, wanted, states);
    }

    /** How long to rest after the last step, {@link Device#restNanos}. */
    long restNanos(long stepNanos) {
        return device.restNanos(inputs.rows, stepNanos);
    }

    private int fillPages(int sequence, int tokens, int firstPage) {
        int count = (tokens + PAGE_TOKENS - 1) / PAGE_TOKENS;
        for (int[] table : inputs.pageTable) {
            for (int i = 0; i < count; i++) {
                table[sequence * limits.maxPages() + i] = firstPage + i;
            }
        }
        return firstPage + count;
    }

    /** What the last step gave for a text. */
    float[] result(int text, EncoderOutput output) {
        int first = firstOutput[text];
        return output.of(states, first, firstOutput[text + 1] - first, width());
    }

    /** The last hidden states of a text of the last step, {@code [tokens, width]} where all were wanted. */
    float[] states(int text) {
        long from = (long) firstOutput[text] * width() * Float.BYTES;
        long end = (long) firstOutput[text + 1] * width() * Float.BYTES;
        return states.asSlice(from, end - from).toArray(ValueLayout.JAVA_FLOAT);
    }

    @Override
    public void close() {
        decoder.close();
        arena.close();
    }
}
