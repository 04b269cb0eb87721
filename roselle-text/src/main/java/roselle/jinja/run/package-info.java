/** Compiled code while it runs: statements, variables in slots, macros, loops. */
@NullMarked
package roselle.jinja.run;

import org.jspecify.annotations.NullMarked;
