/** Numbers and text as Python writes them; limits, and faults of templates. */
@NullMarked
package roselle.jinja.text;

import org.jspecify.annotations.NullMarked;
