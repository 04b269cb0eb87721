/** What users of the library write, compiled and run with the tests. */
@NullMarked
package roselle.examples;

import org.jspecify.annotations.NullMarked;
