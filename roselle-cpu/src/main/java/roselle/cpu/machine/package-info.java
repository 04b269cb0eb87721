/** Machine code for the processor's products: an x86-64 assembler, executable memory, a probe, and the kernels. */
@NullMarked
package roselle.cpu.machine;

import org.jspecify.annotations.NullMarked;
