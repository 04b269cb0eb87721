/** Model files as named tensors plus metadata, whatever their format. */
@NullMarked
package roselle.checkpoint;

import org.jspecify.annotations.NullMarked;
