package roselle.backend;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.SpareMemory;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Operations;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepProgram;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/**
 * A device: it holds weights, rows and pages, runs steps, and samples tokens.
 *
 * <p><b>Memory.</b> Everything is allocated before the first step and lives until {@link #close}; {@link #prepare} takes what
 * steps need beside it. <b>Order.</b> Steps, samplings and copies take effect in the order of the calls, maybe later: only {@link
 * #read} and {@link #collectSample} wait. One thread calls. <b>Ahead.</b> A device that {@link #samples} may be given a
 * step and its sampling before the tokens of the step before have been collected; each has {@link SamplingRows} and {@link
 * SampledTokens} of its own, which are the device's until then.
 */
public interface Device extends AutoCloseable {
    /** What flags and metrics call it: {@code cpu}, {@code cuda:0}. */
    String name();

    /** The name, how it computes, and why so, in one line for people. */
    String describe();

    /** Threads of the host that compute its operations; 0 where the device has processors of its own. */
    int hostThreads();

    /** How long parts of opening it and of loading weights took, as far as it knows them. */
    List<Phase> phases();

    /** How the rows between operations are stored; sums are float32 at least. Logits are F32 always. */
    DataType activationType();

    /** Bytes of the device's own memory that are free; empty where it shares the machine's and reads mapped weights in place. */
    OptionalLong memoryBytes();

    /** An array of {@code elements} zeros that lives until the device closes. */
    Buffer allocate(DataType type, long elements);

    /** An F32 array with these values: a norm's weight, a bias, inverse frequencies. */
    Buffer constants(float[] values);

    /** Rows of ones in {@link #activationType}, all in one place: they are only read. */
    default Rows ones(int columns) {
        var ones = new float[columns];
        Arrays.fill(ones, 1f);
        return new Rows(constants(ones), 0, columns, 0);
    }

    /**
     * Makes matrices of a checkpoint usable as one weight; it may keep reading the blocks' memory in place.
     *
     * @param matrices how many matrices are stacked; 1 but for experts and heads
     * @param blocks two-dimensional, equally wide, maybe of different types; their rows follow each other, and each matrix
     *     has an equal share of them
     */
    Weight load(String name, int matrices, List<StoredMatrix> blocks);

    /** Bytes that {@link #load} takes of the device's memory for a weight, beside what it goes on reading in place. */
    long loadBytes(int matrices, List<StoredMatrix> blocks);

    /**
     * Whether a shared expert that is as the others are shall be one of their stack, and the last choice of every row: fewer kernels for
     * few rows, and the same bits for any number.
     */
    default boolean stacksSharedExperts() {
        return false;
    }

    /**
     * How long one whose steps give way to those of others on the same processors shall rest after a step of its own, in nanoseconds; 0
     * where no others run now. So others go on at nearly their own pace, though kernels that are begun keep their processors.
     *
     * @param rows of the step
     * @param stepNanos what it took
     */
    default long restNanos(int rows, long stepNanos) {
        return 0;
    }

    /** A matrix whose rows are only looked up, by {@link Operations#embed} and {@link Operations#addPositions}, and never multiplied. */
    Weight loadTable(String name, StoredMatrix table);

    /** Bytes that {@link #loadTable} takes of the device's memory. */
    long tableBytes(StoredMatrix table);

    /** How it can keep keys and values; others are refused before anything is loaded. */
    default List<KvType> kvTypes() {
        return KvType.PLAIN;
    }

    /** Whether steps may have adapters: whether {@link Operations#adapt} is done here. */
    default boolean takesAdapters() {
        return false;
    }

    /** Whether adapters may change such a use of weights here. */
    default boolean adapts(AdapterPart.Use use) {
        return takesAdapters() && use == AdapterPart.Use.PRODUCT;
    }

    /**
     * An adapter's matrices in the device's own form, from any thread, while steps run or not; it reads the tensors during this call
     * alone. All change what the device {@link #adapts}.
     */
    default Adapter allocateAdapter(List<? extends AdapterPart> parts) {
        throw new UnsupportedOperationException(name() + " takes no adapters");
    }

    /** Pages for each of the groups: {@code pages[g]} of group {@code g}. */
    KvCache allocateKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages);

    /** Whether memory of pages can be given back while steps run, {@link #givePagesBack}. */
    default boolean givesPagesBack() {
        return false;
    }

    /**
     * Gives the memory of pages that nobody uses back to the system, as far as its own units allow: the fewer gaps the pages leave,
     * the more. What they held is lost, once the steps that were submitted before have read it: they may.
     *
     * @param pages of {@code group}, ascending
     */
    default void givePagesBack(KvCache cache, int group, int[] pages) {
        throw new UnsupportedOperationException(name() + " keeps the memory of its pages");
    }

    /**
     * Has the memory of such pages again, before a step writes to them.
     *
     * @throws roselle.api.CapacityException if others have it; nothing has changed then
     */
    default void takePagesBack(KvCache cache, int group, int[] pages) {
        throw new UnsupportedOperationException(name() + " keeps the memory of its pages");
    }

    /** The same, but pages have no memory until {@link #takePagesBack}, where the device {@link #givesPagesBack}. */
    default KvCache reserveKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        return allocateKvCache(groups, type, pageTokens, pages);
    }

    /**
     * Has it take memory that others left, and leave its own when it closes where that is wanted; before it has loaded anything. A
     * device with memory of its own has no use for it.
     */
    default void shareSpare(SpareMemory spare) {}

    /** Whether it can give up the memory of its own that weights and rows take, {@link #sleep}, and have it again. */
    default boolean sleeps() {
        return false;
    }

    /**
     * Waits for all that was submitted, and gives the device's memory to others until {@link #wake}: what weights are is in the host's
     * memory then, pages have been given back before, and nothing else is called meanwhile but {@link #close}.
     *
     * @throws roselle.api.CapacityException if the host has no memory for it; it goes on with what it has then
     */
    default void sleep() {
        throw new UnsupportedOperationException(name() + " keeps its memory");
    }

    /**
     * Has its memory again, and what it held; does nothing where it is awake.
     *
     * @throws roselle.api.CapacityException if others have it; it still sleeps then
     */
    default void wake() {
        throw new UnsupportedOperationException(name() + " keeps its memory");
    }

    /** Bytes that {@link #prepare} takes, or that loading takes at most beside {@link #loadBytes}. */
    long stepBytes(StepDemands demands);

    /** Takes all that steps and samplings within these limits need and was not allocated; none of them takes memory after it. */
    void prepare(StepDemands demands);

    /**
     * Runs a step: the program's operations, or what was recorded when they ran before in a step of the same sizes.
     *
     * @param inputs may be changed by the caller as soon as this returns
     * @param program the same object for the same operations
     */
    void submit(StepInputs inputs, StepProgram program);

    /** Whether attention can be bidirectional here, as encoders need it, and rows have types. */
    default boolean attendsBothWays() {
        return false;
    }

    /** Whether tokens can be sampled here, and taken by the next step before the host has seen them. */
    default boolean samples() {
        return false;
    }

    /** Samples tokens and waits for them. */
    default void sample(Rows logits, SamplingRows rows, SampledTokens tokens) {
        launchSample(logits, rows, tokens);
        collectSample(tokens);
    }

    /**
     * Samples a token from each row of logits whose place is the device, as the host's sampler would, without typical sampling. The
     * tokens stay on the device for the rows of the next step that {@link StepInputs#sampledRow take} them; of a row that failed some
     * token of the vocabulary stays. Where {@link SamplingRows#returnsLogits}, logits of the host's rows come back with the tokens.
     */
    default void launchSample(Rows logits, SamplingRows rows, SampledTokens tokens) {
        throw new UnsupportedOperationException(name() + " samples no tokens");
    }

    /** Waits for what was launched with these tokens, for nothing that was given to the device later, and fills them in. */
    default void collectSample(SampledTokens tokens) {
        throw new UnsupportedOperationException(name() + " samples no tokens");
    }

    /** Copies all layers of a page of a group to another page of it: copy on write. */
    void copyPage(KvCache cache, int group, int from, int to);

    /** Waits for all operations before it and copies rows to host memory, as gapless float32. */
    void read(Rows source, int firstRow, int rows, MemorySegment target);

    @Override
    void close();
}
