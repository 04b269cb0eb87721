/** Computations that take long, a few at a time, in turns by key. */
@NullMarked
package roselle.work;

import org.jspecify.annotations.NullMarked;
