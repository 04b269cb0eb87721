/** Say how the matrices of a checkpoint are stored: codes, scales and offsets, in one tensor or in several. */
@NullMarked
package roselle.quantization;

import org.jspecify.annotations.NullMarked;
