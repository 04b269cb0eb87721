package roselle.grammar.mask;

import roselle.grammar.automaton.Lexeme;

/**
 * What the vocabulary's walk through one lexeme found: the tokens that stay inside it, and the nodes of the trie at which it may end
 * with bytes of tokens still to come.
 */
record LexemeMask(long[] inside, Lexeme[] ends, int[] endNodes) {}
