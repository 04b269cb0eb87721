/** Masks of the next token: a trie of the vocabulary, walked once for each state that differs. */
@NullMarked
package roselle.grammar.mask;

import org.jspecify.annotations.NullMarked;
