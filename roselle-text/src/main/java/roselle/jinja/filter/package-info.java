/** Filters and tests of templates. */
@NullMarked
package roselle.jinja.filter;

import org.jspecify.annotations.NullMarked;
