/** Split answers into text, thoughts and calls of tools, by the tokens with which models mark them. */
@NullMarked
package roselle.server.chat;

import org.jspecify.annotations.NullMarked;
