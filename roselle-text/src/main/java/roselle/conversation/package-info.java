/** Know what chats of each family of models look like: ends of turns, thoughts, calls of tools, words for effort. */
@NullMarked
package roselle.conversation;

import org.jspecify.annotations.NullMarked;
