/** Which path {@code auto} takes: what each of them does on this processor, measured once and kept. */
@NullMarked
package roselle.cpu.path;

import org.jspecify.annotations.NullMarked;
