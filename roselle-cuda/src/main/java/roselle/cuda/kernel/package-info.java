/** Kernels: their sources and numbers, compiled and kept as cubins, loaded, launched. */
@NullMarked
package roselle.cuda.kernel;

import org.jspecify.annotations.NullMarked;
