/** From tensors of a checkpoint to the parts of a decoder, in the order that a device wants. */
@NullMarked
package roselle.model.weights;

import org.jspecify.annotations.NullMarked;
