/** Where weights, activations, keys and values are on a processor, and a step as its kernels see it. */
@NullMarked
package roselle.cpu.memory;

import org.jspecify.annotations.NullMarked;
