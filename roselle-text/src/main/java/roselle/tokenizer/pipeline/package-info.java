/** A tokenizer as a sequence of stages, with tokens that are found before all of them. */
@NullMarked
package roselle.tokenizer.pipeline;

import org.jspecify.annotations.NullMarked;
