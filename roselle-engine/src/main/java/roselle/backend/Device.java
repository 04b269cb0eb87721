package roselle.backend;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/**
 * A device: it holds weights, rows and pages, runs steps, and draws tokens.
 *
 * <p><b>Memory.</b> Everything is allocated before the first step and lives until {@link #close}; {@link #prepare} takes what
 * steps need beside it. <b>Order.</b> Steps, draws and copies take effect in the order of the calls, maybe later: only {@link
 * #read} and {@link #collectDraw} wait. One thread calls. <b>Ahead.</b> A device that {@link #draws} may be given a step and
 * its draw before the draw of the step before has been collected; each draw has {@link TokenDraws} of its own, which are the
 * device's until it is collected.
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

    /** A matrix whose rows are only looked up, by {@link Operations#embed} and {@link Operations#addPositions}, and never multiplied. */
    Weight loadTable(String name, StoredMatrix table);

    /** Bytes that {@link #loadTable} takes of the device's memory. */
    long tableBytes(StoredMatrix table);

    /** Pages for each of the groups: {@code pages[g]} of group {@code g}. */
    KvCache allocateKvCache(List<KvGroup> groups, DataType type, int pageTokens, int[] pages);

    /** Bytes that {@link #prepare} takes, or that loading takes at most beside {@link #loadBytes}. */
    long stepBytes(StepDemands demands);

    /** Takes all that steps and draws within these limits need and was not allocated; none of them takes memory after it. */
    void prepare(StepDemands demands);

    /**
     * Runs a step: the program's operations, or what was recorded when they ran before in a step of the same sizes.
     *
     * @param inputs may be changed by the caller as soon as this returns
     * @param program the same object for the same operations
     */
    void submit(StepInputs inputs, StepProgram program);

    /** Whether tokens can be drawn here, and taken by the next step before the host has seen them. */
    default boolean draws() {
        return false;
    }

    /** Draws tokens and waits for them. */
    default void draw(Rows logits, TokenDraws draws, int rows) {
        launchDraw(logits, draws, rows);
        collectDraw(draws);
    }

    /**
     * Draws a token from each wanted row of logits as the host's sampler would, without typical sampling. The tokens stay on the device for the rows of the next step that {@link StepInputs#drawnRow take} them; of a
     * row that failed some token of the vocabulary stays.
     */
    default void launchDraw(Rows logits, TokenDraws draws, int rows) {
        throw new UnsupportedOperationException(name() + " draws no tokens");
    }

    /** Waits for what was launched with these draws, for nothing that was given to the device later, and fills in what was drawn. */
    default void collectDraw(TokenDraws draws) {
        throw new UnsupportedOperationException(name() + " draws no tokens");
    }

    /** Copies all layers of a page of a group to another page of it: copy on write. */
    void copyPage(KvCache cache, int group, int from, int to);

    /** Waits for all operations before it and copies rows to host memory, as gapless float32. */
    void read(Rows source, int firstRow, int rows, MemorySegment target);

    @Override
    void close();
}
