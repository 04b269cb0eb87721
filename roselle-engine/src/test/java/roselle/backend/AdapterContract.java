package roselle.backend;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import roselle.backend.memory.AdapterPart.Use;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.OwnMatrix;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepInputs;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** What adapters make of rows among which others have none. */
public abstract class AdapterContract extends TraitContract {
    /** A step of three sequences, which may have adapters. */
    private StepInputs adapting(int rows) {
        StepInputs inputs = step(LIMITS, 0, new int[3], new int[] {(rows + 2) / 3, (rows + 1) / 3, rows / 3});
        inputs.adapts = true;
        return inputs;
    }

    /** What two adapters, one of them fused and of two ranks, add to products. */
    final float[] adapted(Weight weight, int rows) {
        StepInputs inputs = adapting(rows);
        inputs.adapter[0] = device.allocateAdapter(List.of(lowRank(weight, 0, 17, 3), lowRank(weight, 17, 31, 16)));
        inputs.adapter[2] = device.allocateAdapter(List.of(lowRank(weight, 5, 40, 8)));
        begin(inputs);
        Rows output = some(rows, weight.rows());
        operations.adapt(some(rows, COLUMNS), weight, 0.5f, output);
        return read(output, rows);
    }

    /** The same of gates and ups, and then gated. */
    final float[] adaptedAndGated(Weight weight, int rows) {
        int size = weight.rows() / 2;
        Rows both = gapless(new float[rows * 2 * size], 2 * size);
        Rows gates = both.columns(0, size);
        Rows ups = both.columns(size, size);
        var product = new GatedLinear(weight, Epilogue.PLAIN, both, gates, ups, Gate.of(Activation.SILU));
        StepInputs inputs = adapting(rows);
        inputs.adapter[0] =
                device.allocateAdapter(List.of(lowRank(weight, 0, size, 3), lowRank(weight, size, size, 16)));
        inputs.adapter[2] = device.allocateAdapter(List.of(lowRank(weight, 8, 3 * size / 2, 8)));
        begin(inputs);
        operations.adaptedGatedLinear(someGapless(rows, COLUMNS), product, rows);
        return readGapless(gates, rows);
    }

    /** What two adapters make of embeddings, one of which has a table of its own besides. */
    final float[] tablesAdapted(Weight table, int rows) {
        StepInputs inputs = adapting(rows);
        Arrays.setAll(inputs.tokenIds, row -> row * 7 % (table.rows() + 3)); // some behind its end
        var own = new OwnMatrix(table, Use.TABLE, matrix(table.rows(), COLUMNS), null);
        inputs.adapter[0] = device.allocateAdapter(List.of(ofTable(table, 5)));
        inputs.adapter[1] = device.allocateAdapter(List.of());
        inputs.adapter[2] = device.allocateAdapter(List.of(ofTable(table, 19), own));
        begin(inputs);
        Rows output = some(rows, COLUMNS);
        operations.adaptTable(table, 1.5f, output);
        return read(output, rows);
    }

    private LowRank ofTable(Weight table, int rank) {
        return new LowRank(
                table, Use.TABLE, 0, 0, matrix(rank, table.rows()), matrix(COLUMNS, rank), output -> output, 0.25f);
    }

    /** The same of the logits of every second row. */
    final float[] logitsAdapted(Weight weight, int rows) {
        StepInputs inputs = adapting(rows);
        inputs.outputs = (rows + 1) / 2;
        Arrays.setAll(inputs.outputRow, output -> 2 * output);
        var bias = new Tensor("bias", DataType.F32, Shape.of(weight.rows()), segment(numbers(weight.rows())));
        var own = new OwnMatrix(weight, Use.LOGITS, matrix(weight.rows(), COLUMNS), bias);
        var added = new LowRank(
                weight, Use.LOGITS, 0, 0, matrix(7, COLUMNS), matrix(weight.rows(), 7), output -> output, 0.25f);
        inputs.adapter[0] = device.allocateAdapter(List.of(own));
        inputs.adapter[2] = device.allocateAdapter(List.of(added));
        begin(inputs);
        Rows output = some(rows, weight.rows());
        operations.adaptLogits(some(rows, COLUMNS), weight, output, inputs.outputs);
        return read(output, rows);
    }

    /** What adapters of some experts add to chosen products, whose inputs are rows or choices. */
    final float[] expertsAdapted(Weight experts, int rows) {
        int chosen = 3;
        var routing = new Routing(
                device.allocate(DataType.I32, (long) rows * chosen),
                device.allocate(DataType.F32, (long) rows * chosen),
                chosen);
        var router = new Router(Router.Scoring.SOFTMAX, experts.matrices(), chosen, true, 1, 1, null, 1f);
        operations.routeExperts(some(rows, experts.matrices()), router, routing, rows);
        StepInputs inputs = adapting(rows);
        inputs.adapter[0] = device.allocateAdapter(List.of(
                ofExpert(experts, 0, 0, 17, 3), ofExpert(experts, 0, 17, 31, 16), ofExpert(experts, 2, 5, 40, 8)));
        inputs.adapter[1] =
                device.allocateAdapter(List.of(ofExpert(experts, experts.matrices() - 1, 0, experts.rows(), 4)));
        begin(inputs);
        Rows output = some(rows * chosen, experts.rows());
        operations.adaptExperts(
                some(rows, COLUMNS), new ExpertLinear(experts, Epilogue.PLAIN, false), routing, output, rows);
        operations.adaptExperts(
                some(rows * chosen, COLUMNS), new ExpertLinear(experts, Epilogue.PLAIN, true), routing, output, rows);
        return read(output, rows * chosen);
    }

    private LowRank ofExpert(Weight experts, int expert, int first, int outputs, int rank) {
        return new LowRank(
                experts,
                Use.EXPERT,
                expert,
                first,
                matrix(rank, COLUMNS),
                matrix(outputs, rank),
                output -> outputs - 1 - output,
                0.25f);
    }

    /** Low-rank matrices whose outputs are in another order. */
    private LowRank lowRank(Weight weight, int first, int outputs, int rank) {
        Tensor shrink = matrix(rank, COLUMNS);
        return new LowRank(weight, first, shrink, matrix(outputs, rank), output -> outputs - 1 - output, 0.25f);
    }

    private Tensor matrix(int rows, int columns) {
        MemorySegment numbers = MemorySegment.ofArray(numbers(rows * columns));
        return new Tensor("matrix", DataType.F32, Shape.of(rows, columns), numbers);
    }
}
