/** Encode floats as the numbers and blocks of data types, with weights of columns where they are known. */
@NullMarked
package roselle.quantization.encoding;

import org.jspecify.annotations.NullMarked;
