/** The launcher, run as a user runs it. */
@NullMarked
package roselle.launcher;

import org.jspecify.annotations.NullMarked;
