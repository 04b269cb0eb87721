/** The contract of a constraint: a language of bytes as states that never change, and the budget of whoever builds them. */
@NullMarked
package roselle.grammar.automaton;

import org.jspecify.annotations.NullMarked;
