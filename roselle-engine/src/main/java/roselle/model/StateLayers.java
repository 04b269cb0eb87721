package roselle.model;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;

/** The layers of a decoder that keep states in the place of keys and values. */
record StateLayers(Decoder decoder, KvCache cache) {
    private static final Gate SIGMOID = Gate.of(Activation.LOGISTIC);
    private static final Gate SILU = Gate.of(Activation.SILU);
    private static final Gate PRODUCT = Gate.of(Activation.NONE);

    void remember(Operations operations, Layer.DeltaNet delta, Rows input, @Nullable Norm norm, int rows) {
        decoder.linear(operations, input, norm, delta.projections(), Epilogue.PLAIN, delta.all(), rows);
        for (int i = 0; i < delta.raises().size(); i++) {
            Layer.Raise raise = delta.raises().get(i);
            decoder.linear(operations, raise.input(), raise.weight(), Epilogue.PLAIN, raise.output(), rows);
        }
        operations.deltaNet(delta.net(), cache, rows); // [rows, valueHeads * valueSize]
        Rows attended = delta.net().attended();
        decoder.linear(operations, attended, delta.output(), delta.outputEpilogue(), decoder.stream(), rows);
    }

    void scan(Operations operations, Layer.Scan kind, Rows input, @Nullable Norm norm, int rows) {
        decoder.linear(operations, input, norm, kind.projections(), kind.bias(), kind.all(), rows);
        operations.convolve(kind.x(), kind.convolution(), cache, kind.convolved()); // [rows, channels]
        decoder.linear(operations, kind.convolved(), kind.told(), Epilogue.PLAIN, kind.telling(), rows);
        if (kind.timeNorm() != null && kind.bNorm() != null && kind.cNorm() != null) {
            operations.norm(kind.narrow(), kind.timeNorm(), kind.narrow(), rows);
            operations.norm(kind.b(), kind.bNorm(), kind.b(), rows);
            operations.norm(kind.c(), kind.cNorm(), kind.c(), rows);
        }
        decoder.linear(operations, kind.narrow(), kind.widened(), Epilogue.PLAIN, kind.times(), rows);
        operations.selectiveScan(
                kind.convolved(), kind.times(), kind.b(), kind.c(), kind.scan(), cache, kind.attended());
        operations.gatedActivation(kind.gates(), kind.attended(), SILU, kind.attended(), rows);
        decoder.linear(operations, kind.attended(), kind.output(), kind.outputEpilogue(), decoder.stream(), rows);
    }

    void remember(Operations operations, Layer.Lightning kind, Rows input, int rows) {
        decoder.linear(operations, input, kind.projections(), kind.activation(), kind.all(), rows); // [rows, channels]
        decoder.linear(operations, input, kind.gate(), Epilogue.PLAIN, kind.gates(), rows);
        operations.deltaRule(
                kind.query(),
                kind.key(),
                kind.value(),
                kind.times(),
                kind.times(),
                kind.rule(),
                cache,
                kind.attended()); // [rows, heads * valueSize]
        operations.gateNormed(kind.gates(), kind.attended(), kind.norm(), SIGMOID, kind.attended(), rows);
        decoder.linear(operations, kind.attended(), kind.output(), kind.outputEpilogue(), decoder.stream(), rows);
    }

    void remember(Operations operations, Layer.StateSpace kind, Rows input, @Nullable Norm norm, int rows) {
        decoder.linear(operations, input, norm, kind.projections(), kind.bias(), kind.all(), rows);
        Decoder.scale(operations, kind.gates(), kind.gateScale(), rows);
        Decoder.scale(operations, kind.times(), kind.timeScale(), rows);
        operations.convolve(kind.mixed(), kind.convolution(), cache, kind.convolved()); // [rows, channels]
        operations.deltaRule(
                kind.c(),
                kind.b(),
                kind.x(),
                kind.times(),
                kind.times(),
                kind.rule(),
                cache,
                kind.attended()); // [rows, heads * valueSize]
        operations.gatedActivation(kind.gates(), kind.attended(), SILU, kind.attended(), rows);
        for (int part = 0; part < kind.parts().size(); part++) {
            Layer.NormedPart one = kind.parts().get(part);
            operations.norm(one.rows(), one.norm(), one.rows(), rows);
        }
        decoder.linear(operations, kind.attended(), kind.output(), kind.outputEpilogue(), decoder.stream(), rows);
    }

    void convolve(Operations operations, Layer.ShortConvolution kind, Rows input, @Nullable Norm norm, int rows) {
        decoder.linear(operations, input, norm, kind.projections(), kind.bias(), kind.all(), rows);
        operations.gatedActivation(kind.b(), kind.x(), PRODUCT, kind.x(), rows);
        operations.convolve(kind.x(), kind.convolution(), cache, kind.convolved());
        operations.gatedActivation(kind.c(), kind.convolved(), PRODUCT, kind.gated(), rows);
        decoder.linear(operations, kind.gated(), kind.output(), kind.outputEpilogue(), decoder.stream(), rows);
    }
}
