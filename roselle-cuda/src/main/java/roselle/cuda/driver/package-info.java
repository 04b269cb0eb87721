/** CUDA's driver as Java calls: contexts, memory, streams, kernels, graphs; bindings only. */
@NullMarked
package roselle.cuda.driver;

import org.jspecify.annotations.NullMarked;
