/** Classes of characters as the reference implementations have them, and UTF-8. */
@NullMarked
package roselle.tokenizer.unicode;

import org.jspecify.annotations.NullMarked;
