/** Pieces of text to token ids: BPE, unigram, WordPiece. */
@NullMarked
package roselle.tokenizer.model;

import org.jspecify.annotations.NullMarked;
