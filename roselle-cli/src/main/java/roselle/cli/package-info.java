/** Offer the engine as commands. */
@NullMarked
package roselle.cli;

import org.jspecify.annotations.NullMarked;
