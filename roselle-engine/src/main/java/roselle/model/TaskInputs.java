package roselle.model;

import java.util.List;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Operations;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.TaskSpec;
import roselle.model.weights.Part;
import roselle.model.weights.Rearrangement;
import roselle.model.weights.Store;
import roselle.model.weights.TensorSource;
import roselle.quantization.StoredMatrix;
import roselle.tensor.Shape;

/**
 * What steps with adapters of tasks need beside the adapters: what a token's embedding gets of each is a product of a row of a table,
 * whose weight is zero but for the adapter.
 *
 * @param table {@code [vocabulary, numbers]}: of each token what adapters shrink it to, task by task, then the same of its type
 * @param ofTokens its rows of a step
 * @param zeros {@code [width, numbers]}
 */
record TaskInputs(Weight table, Rows ofTokens, Weight zeros) {
    static TaskInputs load(
            DecoderSpec spec,
            TaskSpec tasks,
            TensorSource tensors,
            Rearrangement rearrangement,
            Store store,
            Workspace space) {
        int numbers = tasks.numbers();
        int rank = tasks.rank();
        int half = tasks.names().size() * rank;
        float[] words = tensors.stack(Part.TASKS_OF_TOKENS, half / rank, spec.vocabulary(), rank);
        float[] types = tensors.stack(Part.TASKS_OF_TYPES, half / rank, 1, rank);
        var table =
                rearrangement.floats("what tasks add to tokens", Shape.of(spec.vocabulary(), numbers), (token, i) -> {
                    int number = (int) i % half;
                    int task = number / rank;
                    return i >= 2L * half
                            ? 0
                            : i < half
                                    ? words[(int) ((long) task * spec.vocabulary() + token) * rank + number % rank]
                                    : types[number];
                });
        return new TaskInputs(
                store.loadTable("tasks of tokens", StoredMatrix.of(table)),
                space.tasksOfTokens(),
                zeros(Decoder.TASKS, spec.width(), numbers, rearrangement, store));
    }

    private static Weight zeros(String name, int rows, int columns, Rearrangement rearrangement, Store store) {
        var zeros = rearrangement.floats(name + ".weight", Shape.of(rows, columns), (_, _) -> 0);
        return store.load(name, 1, List.of(StoredMatrix.of(zeros)));
    }

    /** Adds to embeddings what their tasks add. */
    void begin(Decoder decoder, Operations operations, Rows hidden, int rows) {
        operations.embed(table, 1f, ofTokens);
        decoder.linear(operations, ofTokens, zeros, Epilogue.residual(null, 1f), hidden, rows);
    }
}
