/** A graphics card, its memory and that of the host which it reads. */
@NullMarked
package roselle.cuda.memory;

import org.jspecify.annotations.NullMarked;
