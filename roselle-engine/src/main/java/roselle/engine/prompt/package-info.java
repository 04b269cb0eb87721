/** Prompts to token ids, long ones on threads of their own. */
@NullMarked
package roselle.engine.prompt;

import org.jspecify.annotations.NullMarked;
