/** Text of a template to a syntax tree. */
@NullMarked
package roselle.jinja.syntax;

import org.jspecify.annotations.NullMarked;
