/** What the Vector API has on this processor, and functions of vectors. */
@NullMarked
package roselle.cpu.vector;

import org.jspecify.annotations.NullMarked;
