/** What is done to rows number by number, in machine code: a new process has it as fast as an old one. */
@NullMarked
package roselle.cpu.machine.row;

import org.jspecify.annotations.NullMarked;
