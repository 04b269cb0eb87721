/** JSON schemas as boolean automata over the events of a JSON text. */
@NullMarked
package roselle.grammar.schema;

import org.jspecify.annotations.NullMarked;
