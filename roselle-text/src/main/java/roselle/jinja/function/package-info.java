/** What a template finds by name: the caller's variables, and functions such as range and strftime_now. */
@NullMarked
package roselle.jinja.function;

import org.jspecify.annotations.NullMarked;
