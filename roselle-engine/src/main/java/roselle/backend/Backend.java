package roselle.backend;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * A device that holds weights and runs the fused operations a decoder is made of.
 *
 * <p><b>Memory.</b> Everything is allocated before the first step and lives until {@link #close}; {@link #prepare} takes what
 * steps need beside it. <b>Order.</b> Operations
 * between {@link #begin} and the next one take effect in the order of the calls, maybe later: only {@link #read} waits. The
 * host sees no numbers in between, and the calls of a step depend on nothing but its number of rows and outputs, so that a
 * device may record them in a graph and replay it. One thread calls. <b>Bits.</b> A row of an output depends on that row's
 * inputs alone: not on the number of rows, on its neighbours, on how a prompt was cut, or on the number of threads. Each
 * sum is taken in an order fixed by the operation's shapes, that of attention by absolute position. <b>Inputs and
 * outputs</b> of one operation do not overlap, except where it says that they may be the same. <b>Ahead.</b> A device that
 * {@link #samples} may be given a step and its sampling before the tokens of the step before have been collected; each step has
 * {@link SamplingRows} and {@link SampledTokens} of its own, which are the device's until they are collected.
 */
public interface Backend extends AutoCloseable {
    /** What flags and metrics call it: {@code cpu}, {@code cuda:0}. */
    String name();

    /** The name, how it computes, and why so, in one line for people. */
    default String describe() {
        return name();
    }

    /** How long parts of opening it and of loading weights took, as far as it knows them. */
    default List<Phase> phases() {
        return List.of();
    }

    /** How the rows between operations are stored; sums are float32 at least. Logits are F32 always. */
    DataType activationType();

    /** Bytes of the device's own memory that are free; empty where it shares the machine's and reads mapped weights in place. */
    default OptionalLong memoryBytes() {
        return OptionalLong.empty();
    }

    /** An array of {@code elements} zeros that lives until the backend closes. */
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
    Weight load(String name, int matrices, List<Tensor> blocks);

    /** Bytes that {@link #load} takes of the device's memory for a weight, beside what it goes on reading in place. */
    default long loadBytes(int matrices, List<Tensor> blocks) {
        return 0;
    }

    /** A matrix whose rows are only looked up, by {@link #embed} and {@link #addPositions}, and never multiplied. */
    default Weight loadTable(String name, Tensor table) {
        return load(name, 1, List.of(table));
    }

    /** Bytes that {@link #loadTable} takes of the device's memory. */
    default long tableBytes(Tensor table) {
        return loadBytes(1, List.of(table));
    }

    /** Pages for each of the groups: {@code pages[g]} of group {@code g}. */
    KvCache allocateKvCache(List<KvGroup> groups, DataType type, int pageTokens, int[] pages);

    /** Bytes that {@link #prepare} takes, or that loading takes at most beside {@link #loadBytes}. */
    default long stepBytes(StepDemands demands) {
        return 0;
    }

    /** Takes all that steps and sampling within these limits need and was not allocated; none of them takes memory after it. */
    default void prepare(StepDemands demands) {}

    /** Makes a step the current one; its arrays may be changed by the caller as soon as the next {@link #read} returns. */
    void begin(StepInputs inputs);

    /**
     * Runs a step: {@link #begin}, then the operations, or what was recorded when they ran before in a step of the same sizes.
     *
     * @param inputs may be changed by the caller as soon as this returns
     * @param operations is given the inputs or what they were, calls this backend and does nothing else; the same object for the same calls
     */
    default void step(StepInputs inputs, Consumer<StepInputs> operations) {
        begin(inputs);
        operations.accept(inputs);
    }

    /** {@code output[r] = scale * table[tokenIds[r]]}. */
    void embed(Weight table, float scale, Rows output);

    /** {@code output[r] += table[positions[r]]}: learned absolute positions. */
    void addPositions(Weight table, Rows output);

    /** {@code output[r] = norm(input[r])}; both may be the same. */
    void norm(Rows input, Norm norm, Rows output, int rows);

    /** {@code output[r] += scale * norm(input[r])}: the residual connection of a block that normalises what it adds. */
    void addNormed(Rows input, Norm norm, float scale, Rows output, int rows);

    /** {@code output[r] = epilogue(weight * input[r])}. */
    void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows);

    /**
     * {@code output[r] = epilogue(weight * norm(input[r]))}, with the bits of {@link #norm} and then {@link #linear}.
     *
     * @param normed a place for normalised rows; what it holds afterwards is not defined
     */
    default void normedLinear(
            Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows) {
        norm(input, norm, normed, rows);
        linear(normed, weight, epilogue, output, rows);
    }

    /**
     * One small matrix per head: head {@code h} of a row, {@code weight.columns()} numbers that begin at
     * {@code h * input.columns() / heads}, times matrix {@code h}, stored from {@code h * output.columns() / heads} on. What
     * lies between the heads' outputs is not touched.
     */
    void headLinear(Rows input, Weight weight, Rows output, int rows);

    /**
     * Normalises and rotates queries in place, normalises and rotates keys in place, and appends keys and values to the
     * cache. Shapes: query {@code [queryHeads, keySize]}, key {@code [keyHeads, keySize]}, value {@code [keyHeads, valueSize]}.
     */
    void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache);

    /**
     * The same for latent attention (DeepSeek-V2, section 2.1): rotates the last numbers of each head of {@code query} into
     * the last numbers of that head of {@code absorbed} {@code [queryHeads, keySize]}, rotates the last numbers of
     * {@code latent} {@code [keySize]} in place, and appends it as key and value in one.
     */
    void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache);

    /**
     * Causal softmax attention of each row to its sequence up to its own position, within the group's window. Shapes: query
     * {@code [queryHeads, keySize]}, output {@code [queryHeads, valueSize]}; where the group's value size is 0, a value is the
     * first {@code valueSize} numbers of its key.
     */
    void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output);

    /**
     * {@link #ropeAndAppendKv}, then {@link #attention} with those queries, and the bits of both; what {@code query} and {@code key}
     * hold afterwards is not defined.
     */
    default void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output) {
        ropeAndAppendKv(query, key, value, layer, cache);
        attention(query, layer, cache, output);
    }

    /** {@code output[r] = gate(gate[r], up[r])}, number by number; the output may be either input. */
    void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows);

    /**
     * {@link #linear}, or {@link #normedLinear} where there is a norm, then {@link #gatedActivation} of what that left, and the
     * bits of both; what the rows of ups hold afterwards is not defined.
     *
     * @param normed a place for normalised rows; what it holds afterwards is not defined
     */
    default void gatedLinear(Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows) {
        if (norm == null) {
            linear(input, product.gateAndUp(), product.epilogue(), product.both(), rows);
        } else {
            normedLinear(input, norm, normed, product.gateAndUp(), product.epilogue(), product.both(), rows);
        }
        gatedActivation(product.gates(), product.ups(), product.gate(), product.gates(), rows);
    }

    /** Chooses the experts of each row from its logits. */
    void routeExperts(Rows logits, Router router, Routing routing, int rows);

    /**
     * Each row's chosen experts at work: {@code output[r * chosen + j] = epilogue(experts[routing(r, j)] * x)}, where x is
     * {@code input[r]}, or {@code input[r * chosen + j]} where the input is spread already.
     */
    void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows);

    /** {@code output[r] += scale * sum over j of routing weight(r, j) * input[r * chosen + j]}, in the order of j. */
    void combineExperts(Rows input, Routing routing, float scale, Rows output, int rows);

    /** {@code output[r] += scale * input[r]}. */
    void addScaled(Rows input, float scale, Rows output, int rows);

    /** {@code output[r] += sigmoid(gate[r][0]) * scale * input[r]}: a shared expert with its own gate. */
    void addGated(Rows input, Rows gate, float scale, Rows output, int rows);

    /** {@code output[i] = input[outputRow[i]]}: the rows whose logits are wanted. */
    void selectOutputs(Rows input, Rows output);

    /** {@code x = cap(scale * x)} in place, with {@code cap(x) = softCap * tanh(x / softCap)}, or no cap where it is 0. */
    void scaleLogits(Rows logits, float scale, float softCap, int rows);

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

    /** Copies rows from host memory, as gapless float32. */
    void write(MemorySegment source, Rows target, int firstRow, int rows);

    /** Waits for all operations before it and copies rows to host memory, as gapless float32. */
    void read(Rows source, int firstRow, int rows, MemorySegment target);

    @Override
    void close();
}
