/** An x86-64 assembler with the instructions that the kernels use. */
@NullMarked
package roselle.cpu.machine.assembler;

import org.jspecify.annotations.NullMarked;
