/** Tests of the binding to NVIDIA's management library, against a library of our own with its functions. */
@NullMarked
package roselle.cuda.nvml;

import org.jspecify.annotations.NullMarked;
