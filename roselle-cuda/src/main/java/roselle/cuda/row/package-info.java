/** Kernels of single rows, and what the heads of attention do before it. */
@NullMarked
package roselle.cuda.row;

import org.jspecify.annotations.NullMarked;
