package roselle.cuda.gemm;

import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.cuda.kernel.Launcher;

/**
 * A weight in FP8 that is multiplied with rows in FP8: a code's number is {@code code * tile scale * output scale}.
 *
 * @param products the kernels
 * @param tileScales address of a scale for each tile, {@code [row tiles, columns / 128]}, float32
 * @param outputScales address of a scale for each row of the tiles, float32
 */
public record Fp8Weight(Fp8Linear products, long tileScales, long outputScales) implements TileProducts {
    @Override
    public void embed(
            Launcher launcher, CudaWeight table, long index, float scale, boolean adds, Rows output, int rows) {
        launcher.of(products.tableRows())
                .pointer(table.packed())
                .pointer(tileScales)
                .pointer(outputScales)
                .integer(table.columns())
                .integer(table.rows())
                .pointer(index)
                .number(scale)
                .flag(adds)
                .rows(output)
                .launch(rows, Launcher.cover(table.columns(), Fp8Linear.THREADS), 1, Fp8Linear.THREADS);
    }

    @Override
    public void multiply(Launcher launcher, Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        products.multiply(launcher, input, null, this, weight, epilogue, output, rows);
    }

    @Override
    public boolean normed(
            Launcher launcher, Rows input, Norm norm, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        boolean fuses = Fp8Linear.fusesNorm(input);
        if (fuses) {
            products.multiply(launcher, input, norm, this, weight, epilogue, output, rows);
        }
        return fuses;
    }

    @Override
    public boolean fusesGate(GatedLinear product, int rows) {
        return products.fusesGate(product, rows);
    }

    @Override
    public void gated(Launcher launcher, Rows input, GatedLinear product, int rows) {
        products.gated(launcher, input, null, this, product, rows);
    }

    @Override
    public boolean normedGated(Launcher launcher, Rows input, Norm norm, GatedLinear product, int rows) {
        boolean fuses = Fp8Linear.fusesNorm(input);
        if (fuses) {
            products.gated(launcher, input, norm, this, product, rows);
        }
        return fuses;
    }
}
