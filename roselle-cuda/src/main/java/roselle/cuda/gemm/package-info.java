/** GEMM and GEMV on GPUs: weights in tiles, and which kernel takes how many rows. */
@NullMarked
package roselle.cuda.gemm;

import org.jspecify.annotations.NullMarked;
