/** Decide what each tensor of a model becomes, and write the converted model. */
@NullMarked
package roselle.quantization.recipe;

import org.jspecify.annotations.NullMarked;
