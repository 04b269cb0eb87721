/** Context-free grammars: what GBNF and Lark say as rules, and Earley's sets of them as states that recur. */
@NullMarked
package roselle.grammar.ebnf;

import org.jspecify.annotations.NullMarked;
