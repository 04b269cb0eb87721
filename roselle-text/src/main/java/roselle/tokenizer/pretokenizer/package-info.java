/** Pre-tokenizers: cut text into words, each of which a model tokenizes alone. */
@NullMarked
package roselle.tokenizer.pretokenizer;

import org.jspecify.annotations.NullMarked;
