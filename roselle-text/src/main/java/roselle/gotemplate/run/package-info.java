/** Templates in Go's language while they run: variables, branches, loops, functions. */
@NullMarked
package roselle.gotemplate.run;

import org.jspecify.annotations.NullMarked;
