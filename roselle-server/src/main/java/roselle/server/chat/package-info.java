/** Read conversations from JSON, and split answers into text, thoughts and calls. */
@NullMarked
package roselle.server.chat;

import org.jspecify.annotations.NullMarked;
