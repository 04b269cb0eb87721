/** NVIDIA's management library as Java calls: names, energy, power, memory and load of GPUs; bindings only. */
@NullMarked
package roselle.cuda.nvml;

import org.jspecify.annotations.NullMarked;
