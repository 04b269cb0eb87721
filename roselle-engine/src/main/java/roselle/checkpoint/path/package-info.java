/** From a path that a user names to the open checkpoint. */
@NullMarked
package roselle.checkpoint.path;

import org.jspecify.annotations.NullMarked;
