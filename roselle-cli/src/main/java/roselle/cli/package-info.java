/** The one executable: its commands, its streams, what happens when something fails. */
@NullMarked
package roselle.cli;

import org.jspecify.annotations.NullMarked;
