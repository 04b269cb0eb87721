/** What the headers of a model's files say of its size. */
@NullMarked
package roselle.checkpoint.summary;

import org.jspecify.annotations.NullMarked;
