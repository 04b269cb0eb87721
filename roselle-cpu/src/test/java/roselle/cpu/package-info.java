/** Tests of the CPU backend. */
@NullMarked
package roselle.cpu;

import org.jspecify.annotations.NullMarked;
