/** Normalizers: rewrite text before it is cut. */
@NullMarked
package roselle.tokenizer.normalizer;

import org.jspecify.annotations.NullMarked;
