/** Turn text into token ids and ids back into text, incrementally. */
@NullMarked
package roselle.tokenizer;

import org.jspecify.annotations.NullMarked;
