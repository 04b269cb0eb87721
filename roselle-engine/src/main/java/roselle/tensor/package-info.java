/** Describe numbers in memory: data type, quantization format, shape, segment; no arithmetic. */
@NullMarked
package roselle.tensor;

import org.jspecify.annotations.NullMarked;
