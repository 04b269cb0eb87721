/** Constrain what a model writes: a JSON schema, a regular expression or a choice as masks of the next token. */
@NullMarked
package roselle.grammar;

import org.jspecify.annotations.NullMarked;
