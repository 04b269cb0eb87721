/** Read conversations from JSON: messages, tools, variables of the template. */
@NullMarked
package roselle.server.chat;

import org.jspecify.annotations.NullMarked;
