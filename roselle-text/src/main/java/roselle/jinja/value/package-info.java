/** Values of templates as Python has them, and the state of a rendering. */
@NullMarked
package roselle.jinja.value;

import org.jspecify.annotations.NullMarked;
