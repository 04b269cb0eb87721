/** The command that generates in a terminal: one prompt, or a conversation. */
@NullMarked
package roselle.cli.run;

import org.jspecify.annotations.NullMarked;
