package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;

/**
 * The operations that a decoder is made of, as a step's program calls them while a device runs a step.
 *
 * <p><b>Order.</b> Operations of a step take effect in the order of the calls, maybe later. The host sees no numbers in between,
 * and the calls of a program depend on nothing but the step's number of rows and outputs, and whether it adapts, so that a device may
 * record them in a graph and replay it. <b>Bits.</b> A row of an output depends on that row's inputs alone: not on the number of rows, on its
 * neighbours, on how a prompt was cut, or on the number of threads. Each sum is taken in an order fixed by the operation's
 * shapes, that of attention by absolute position. <b>Inputs and outputs</b> of one operation do not overlap, except where it
 * says that they may be the same.
 *
 * <p><b>Fused operations</b> ({@link #normedLinear}, {@link #gatedLinear}, {@link #adaptedGatedLinear}, {@link #gateNormed},
 * {@link #feedExperts}, {@link #appendAndAttend}, {@link #deltaNet}) have the bits of their parts.
 * No method here has a body: who wraps operations would inherit it, and what the device fuses would fall apart unseen. A device
 * that does not fuse them says so by calling {@link UnfusedOperations}.
 */
public interface Operations {
    /** {@code output[r] = scale * table[tokenIds[r]]}; a token for which the table has no row has that of token 0. */
    void embed(Weight table, float scale, Rows output);

    /** {@code output[r] += table[positions[r]]}: learned absolute positions. */
    void addPositions(Weight table, Rows output);

    /** {@code output[r] += table[types[r]]}: which of the texts of a pair a token is of, as encoders are told. */
    void addTypes(Weight table, Rows output);

    /** {@code output[r] = norm(input[r])}; both may be the same. */
    void norm(Rows input, Norm norm, Rows output, int rows);

    /** {@link #norm} of each {@code size} numbers of a row by themselves; both may be the same. */
    void normHeads(Rows input, Norm norm, int size, Rows output, int rows);

    /** {@code output[r] += scale * norm(input[r])}: the residual connection of a block that normalises what it adds. */
    void addNormed(Rows input, Norm norm, float scale, Rows output, int rows);

    /** {@code output[r] = epilogue(weight * input[r])}. */
    void linear(Rows input, Weight weight, Epilogue epilogue, Rows output, int rows);

    /**
     * {@code output[r] += scale * sum of B (A input[r])} over what the adapter of row {@code r}'s sequence adds to a weight
     * ({@link roselle.backend.memory.LowRank}); rows without an adapter, and those whose adapter leaves the weight alone, are not
     * touched. It follows the product of all rows of the step with that weight, wherever {@link
     * roselle.backend.step.StepInputs#adapts}.
     */
    void adapt(Rows input, Weight weight, float scale, Rows output);

    /**
     * What the adapter of a row's sequence makes of {@link #embed}: the row is {@code scale} times that of the adapter's {@linkplain
     * roselle.backend.memory.OwnMatrix own table} where it has one, and {@code scale} times what it adds to a token is added. It
     * follows the embedding of all rows of a step that adapts; other rows are not touched.
     */
    void adaptTable(Weight table, float scale, Rows output);

    /**
     * The same of {@link #logits}: {@code output[i]} is that of the adapter's own matrix where it has one, and what it adds to the
     * product is added; the adapter is that of row {@code outputRow[i]}. Of logits that are not wanted, −∞ stays.
     */
    void adaptLogits(Rows input, Weight weight, Rows output, int outputs);

    /**
     * The same of {@link #groupedLinear}: {@code output[r * chosen + j] += B (A x)} with what the adapter of row {@code r} adds to the
     * matrix that was chosen, and the x of that product.
     */
    void adaptExperts(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows);

    /**
     * {@link #linear} of the step's outputs, where logits that {@link roselle.backend.step.StepInputs#wanted} leaves out may be −∞
     * instead.
     */
    void logits(Rows input, Weight weight, Epilogue epilogue, Rows output, int outputs);

    /**
     * {@code output[r] = epilogue(weight * norm(input[r]))}, with the bits of {@link #norm} and then {@link #linear}.
     *
     * @param normed a place for normalised rows; what it holds afterwards is not defined
     */
    void normedLinear(Rows input, Norm norm, Rows normed, Weight weight, Epilogue epilogue, Rows output, int rows);

    /**
     * One small matrix per head: head {@code h} of a row, {@code weight.columns()} numbers that begin at
     * {@code h * input.columns() / heads}, times matrix {@code h}, stored from {@code h * output.columns() / heads} on. What
     * lies between the heads' outputs is not touched.
     */
    void headLinear(Rows input, Weight weight, Rows output, int rows);

    /**
     * Normalises and rotates queries in place, normalises and rotates keys in place, and appends keys and values to the
     * cache. Shapes: query {@code [queryHeads, keySize]}, key {@code [keyHeads, keySize]}, value {@code [keyHeads, valueSize]}.
     * Where the layer {@link AttentionLayer#appends} nothing, key and value are not looked at; nor is value where the group has none.
     */
    void ropeAndAppendKv(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache);

    /**
     * The same for latent attention (DeepSeek-V2, section 2.1): rotates the last numbers of each head of {@code query} into
     * the last numbers of that head of {@code absorbed} {@code [queryHeads, keySize]}, rotates the last numbers of
     * {@code latent} {@code [keySize]} in place, and appends it as key and value in one.
     */
    void ropeAndAppendLatent(Rows query, Rows latent, Rows absorbed, AttentionLayer layer, KvCache cache);

    /**
     * Makes the keys whose last token is in the step, of what all of their tokens gave, which {@link #ropeAndAppendKv} appended.
     *
     * @param room a place for keys, {@code [rows, size]}; what it holds afterwards is not defined
     */
    void compress(Compression compression, KvCache cache, Rows room);

    /**
     * Chooses the positions that each row attends to, of those up to its own: the ones with the highest sums, of equal sums the first
     * positions. The sum is over heads {@code weights[h] * max(0, scale * (query[h] . key[p]))}. Shapes: query {@code [heads, keySize]},
     * turned; weights {@code [heads]}. Keys are those that {@link #ropeAndAppendKv} appended for the index.
     *
     * <p>An index with {@linkplain PositionIndex#localBlocks local blocks} looks at no weights: each head chooses, for the heads of
     * queries that share a head of keys, the local blocks and those in which the highest {@code query[h] . key[p]} are, of equal
     * ones the first.
     */
    void choosePositions(Rows query, Rows weights, PositionIndex index, KvCache cache);

    /**
     * Causal softmax attention of each row to its sequence up to its own position, within the group's window. Shapes: query
     * {@code [queryHeads, keySize]}, output {@code [queryHeads, valueSize]}; where the group's value size is 0, a value is the
     * first {@code valueSize} numbers of its key. A layer whose positions were {@linkplain AttentionLayer.Traits#chosen chosen} sees
     * these alone.
     *
     * <p>Where the layer is bidirectional, a row sees its sequence up to the last row of the step, on devices that
     * {@link roselle.backend.Device#attendsBothWays}; the window counts positions before and behind alike.
     */
    void attention(Rows query, AttentionLayer layer, KvCache cache, Rows output);

    /**
     * {@link #ropeAndAppendKv}, then {@link #attention} with those queries, and the bits of both; what {@code query} and {@code key}
     * hold afterwards is not defined.
     */
    void appendAndAttend(Rows query, Rows key, Rows value, AttentionLayer layer, KvCache cache, Rows output);

    /**
     * Convolves the step's rows with those before them and appends them to the cache; input and output are {@code [channels]}.
     *
     * <p>A page of the table that is −1 keeps nothing; the page of the last row, and the last full one, are there always.
     */
    void convolve(Rows input, Convolution convolution, KvCache cache, Rows output);

    /**
     * The delta rule for each row, from the state behind the last page before it and the rows since: query and key
     * {@code [keyHeads, keySize]}, value and output {@code [valueHeads, valueSize]}, {@code a} and {@code b} {@code [valueHeads]}.
     *
     * <p>With {@code S} the state before the page, {@code G} the sum of {@code g} from the page's beginning on, row {@code i} of
     * the page is {@code d(i) = beta(i) (v(i) - e^G(i) S^T k(i) - sum over j < i of e^(G(i) - G(j)) (k(i) k(j)) d(j))} and
     * {@code output(i) = e^G(i) S^T q(i) + sum over j <= i of e^(G(i) - G(j)) (q(i) k(j)) d(j)}, so that it is the same whichever
     * step computes it; of a state space, {@code d(i)} is {@code t(i) v(i)} and {@code skip v(i)} is added to the output. A state is
     * written where a page ends. A page of the table that is −1 keeps nothing, as with
     * {@link #convolve}.
     */
    void deltaRule(Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, KvCache cache, Rows output);

    /**
     * {@link #convolve}, {@link #deltaRule} of what that left, and {@link #gateNormed} of what that left, and the bits of all; what
     * {@code convolved} holds afterwards is not defined.
     */
    void deltaNet(DeltaNet net, KvCache cache, int rows);

    /**
     * A selective scan of each row, token by token from the state behind the last page before it: {@code x}, {@code times} and output
     * {@code [channels]}, {@code b} and {@code c} {@code [stateSize]}. What a row gives is the same whichever step computes it; a
     * state is written where a page ends. A page of the table that is −1 keeps nothing, as with {@link #convolve}.
     */
    void selectiveScan(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, KvCache cache, Rows output);

    /** {@code output[r] = gate(gate[r], up[r])}, number by number; the output may be either input. */
    void gatedActivation(Rows gate, Rows up, Gate kind, Rows output, int rows);

    /**
     * {@link #norm} of the parts that make up rows, in place, then {@link #gatedActivation} of what that left, with the bits of both.
     *
     * @param parts the numbers of {@code output} as rows without gaps of one part each
     */
    void gateNormed(Rows gate, Rows parts, Norm norm, Gate kind, Rows output, int rows);

    /**
     * {@link #linear}, or {@link #normedLinear} where there is a norm, then {@link #gatedActivation} of what that left, and the
     * bits of both; what the rows of ups hold afterwards is not defined.
     *
     * @param normed a place for normalised rows; what it holds afterwards is not defined
     */
    void gatedLinear(Rows input, @Nullable Norm norm, Rows normed, GatedLinear product, int rows);

    /**
     * {@link #linear}, {@link #adapt} and {@link #gatedActivation} of what they left, and the bits of all three: of all rows of a
     * step that {@link roselle.backend.step.StepInputs#adapts}. What the rows of ups hold afterwards is not defined.
     */
    void adaptedGatedLinear(Rows input, GatedLinear product, int rows);

    /**
     * Sets to 0 what lies less than so many standard deviations above the mean of its row, and takes that bound from the rest, in
     * place: {@code x = max(0, x - mean - deviations * deviation)} (Gemma 3n's sparse activations).
     */
    void sparsify(Rows gates, float deviations, int rows);

    /** Applies a trained activation in place. */
    void xielu(Rows numbers, Xielu kind, int rows);

    /**
     * Vectors of {@code width} numbers that lie side by side, mixed with coefficients of the row: vector {@code j} of the output is
     * {@code sum over i of coefficients[j * inputs + i] * input vector i}, in the order of i. Shapes: input {@code [inputs, width]},
     * output {@code [outputs, width]}, coefficients {@code [outputs, inputs]}.
     */
    void mix(Rows input, Rows coefficients, int width, Rows output, int rows);

    /** Coefficients of streams from products of them, see {@link Connection}; both may be the same. */
    void connect(Rows products, Connection connection, Rows coefficients, int rows);

    /** {@code output[r] += input[r] * m(like[r]) / max(m(input[r]), sqrt(1e-5))}, with m the root of the mean of squares. */
    void addAsLongAs(Rows input, Rows like, Rows output, int rows);

    /** Chooses the experts of each row from its logits. */
    void routeExperts(Rows logits, Router router, Routing routing, int rows);

    /**
     * Each row's chosen experts at work: {@code output[r * chosen + j] = epilogue(experts[routing(r, j)] * x)}, where x is
     * {@code input[r]}, or {@code input[r * chosen + j]} where the input is spread already.
     */
    void groupedLinear(Rows input, ExpertLinear linear, Routing routing, Rows output, int rows);

    /**
     * {@code output[r] += scale * sum over j of routing weight(r, j) * input[r * chosen + j]}, in the order of j; that sum alone where
     * it does not add.
     */
    void combineExperts(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows);

    /**
     * {@link #groupedLinear} with the first matrices, {@link #gatedActivation} where there are ups, {@link #groupedLinear} with the
     * second ones, {@link #combineExperts} and, where there is a shared expert, {@link #addGated}, and the bits of these; what the rows
     * of choices hold afterwards is not defined.
     */
    void feedExperts(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows);

    /** {@code output[r] += sigmoid(gate[r][0]) * scale * input[r]}: a shared expert with its own gate. */
    void addGated(Rows input, Rows gate, float scale, Rows output, int rows);

    /** {@code output[i] = input[outputRow[i]]}: the rows whose logits are wanted. */
    void selectOutputs(Rows input, Rows output);

    /** {@code x = cap(scale * x)} in place, with {@code cap(x) = softCap * tanh(x / softCap)}, or no cap where it is 0; of logits, or of rows between operations. */
    void scaleLogits(Rows logits, float scale, float softCap, int rows);
}
