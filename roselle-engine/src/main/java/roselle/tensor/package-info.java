/** Describe numbers in memory (data type, quantization format, shape, segment) and convert them to float; no other arithmetic. */
@NullMarked
package roselle.tensor;

import org.jspecify.annotations.NullMarked;
