/** Describe how families of models write thoughts and calls of tools: one small value for each format. */
@NullMarked
package roselle.conversation.format;

import org.jspecify.annotations.NullMarked;
