/** Quantize a folder of safetensors to another one, in the forms that other engines read. */
@NullMarked
package roselle.quantization.folder;

import org.jspecify.annotations.NullMarked;
