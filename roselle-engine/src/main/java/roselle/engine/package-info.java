/** The facade and the loop: open, submit, cancel, close. */
@NullMarked
package roselle.engine;

import org.jspecify.annotations.NullMarked;
