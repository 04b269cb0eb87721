/** Regular expressions of tokenizers, matched in linear time. */
@NullMarked
package roselle.tokenizer.pattern;

import org.jspecify.annotations.NullMarked;
