/** Stored numbers to float32 and back, in vectors of any width: one kernel for all quantized formats. */
@NullMarked
package roselle.cpu.format;

import org.jspecify.annotations.NullMarked;
