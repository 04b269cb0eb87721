/** Constrain what a model writes: a JSON schema, a regular expression, a choice or a context-free grammar as masks of the next token. */
@NullMarked
package roselle.grammar;

import org.jspecify.annotations.NullMarked;
