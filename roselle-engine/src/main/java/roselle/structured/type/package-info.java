/** Java types as JSON schemas, and answers read into them while they are written. */
@NullMarked
package roselle.structured.type;

import org.jspecify.annotations.NullMarked;
