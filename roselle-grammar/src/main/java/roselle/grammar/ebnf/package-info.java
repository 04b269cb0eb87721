/** Context-free grammars: what GBNF says as rules, and Earley's sets of them as states that recur. */
@NullMarked
package roselle.grammar.ebnf;

import org.jspecify.annotations.NullMarked;
