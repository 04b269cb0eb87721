/** What machine code needs of the processor and the system: a probe, executable memory, calls. */
@NullMarked
package roselle.cpu.machine;

import org.jspecify.annotations.NullMarked;
