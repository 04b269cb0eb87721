/** Read tokenizers: tokenizer.json, tokenizer.model, the vocabulary of a GGUF file. */
@NullMarked
package roselle.tokenizer.format;

import org.jspecify.annotations.NullMarked;
