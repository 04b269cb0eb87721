/** Threads that share a step, and the cores that they run on. */
@NullMarked
package roselle.cpu.thread;

import org.jspecify.annotations.NullMarked;
