package roselle.cuda.gemm;

import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Norm;
import roselle.cuda.kernel.Launcher;

/** What is done with a weight whose tiles hold codes, by kernels for its format. */
public interface TileProducts {
    /** Adds rows of the weight, or puts them, times a number; {@code index} is the address of which of them. */
    void embed(Launcher launcher, CudaWeight table, long index, float scale, boolean adds, Rows output, int rows);

    /** Multiplies rows that tensor cores can read. */
    void multiply(Launcher launcher, Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows);

    /** Normalises and multiplies with fewer kernels than one of each if it can; else it does nothing and says so. */
    default boolean normed(
            Launcher launcher, Rows input, Norm norm, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        return false;
    }

    /** Whether there is a kernel that multiplies so many rows and gates the products at once. */
    default boolean fusesGate(GatedLinear product, int rows) {
        return false;
    }

    /** Multiplies and gates, where {@link #fusesGate} says so. */
    default void gated(Launcher launcher, Rows input, GatedLinear product, int rows) {
        throw new IllegalStateException("no kernel gates such products");
    }

    /** The same of rows that are normalised before, with fewer kernels, if it can; else it does nothing and says so. */
    default boolean normedGated(Launcher launcher, Rows input, Norm norm, GatedLinear product, int rows) {
        return false;
    }
}
