/** Text of a template in Go's language to a syntax tree. */
@NullMarked
package roselle.gotemplate.syntax;

import org.jspecify.annotations.NullMarked;
