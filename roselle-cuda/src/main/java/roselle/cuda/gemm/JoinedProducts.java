package roselle.cuda.gemm;

import java.util.List;
import java.util.Objects;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaBuffer;
import roselle.tensor.DataType;

/** Products with a weight whose rows are of several formats, such as queries in Q4_K with values in Q6_K: those of each by themselves. */
final class JoinedProducts implements TileProducts {
    private final List<CudaWeight> parts;

    /** Of weights of tiles, one below the other. */
    JoinedProducts(List<CudaWeight> parts) {
        this.parts = List.copyOf(parts);
    }

    @Override
    public void embed(
            Launcher launcher, CudaWeight table, long index, float scale, boolean adds, Rows output, int rows) {
        throw new IllegalStateException("tables of embeddings are of one format");
    }

    @Override
    public void multiply(Launcher launcher, Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        int first = 0;
        for (CudaWeight part : parts) {
            Objects.requireNonNull(part.products())
                    .multiply(
                            launcher, input, part, of(part, first, epilogue), output.columns(first, part.rows()), rows);
            first += part.rows();
        }
    }

    private static Epilogue of(CudaWeight part, int first, Epilogue epilogue) {
        if (epilogue.bias() == null) {
            return epilogue;
        }
        long address = ((CudaBuffer) epilogue.bias()).address() + (long) first * Float.BYTES;
        var bias = new CudaBuffer(DataType.F32, part.rows(), address);
        return new Epilogue(bias, epilogue.activation(), epilogue.scale(), epilogue.accumulates());
    }
}
