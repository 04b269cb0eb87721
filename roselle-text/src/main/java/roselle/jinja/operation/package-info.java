/** What can be done with values: operators, attributes, methods, formats. */
@NullMarked
package roselle.jinja.operation;

import org.jspecify.annotations.NullMarked;
