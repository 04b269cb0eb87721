/** GEMM in vectors of 256 and 512 bits: the code of panels times rows of activations, and its scalar twins. */
@NullMarked
package roselle.cpu.machine.gemm;

import org.jspecify.annotations.NullMarked;
