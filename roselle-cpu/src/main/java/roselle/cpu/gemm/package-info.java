/** GEMM and GEMV of activations with weights: one matrix, one per head, or one per chosen expert. */
@NullMarked
package roselle.cpu.gemm;

import org.jspecify.annotations.NullMarked;
