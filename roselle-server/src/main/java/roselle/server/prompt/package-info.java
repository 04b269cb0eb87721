/** What dialects tell a model alike: turns of a conversation, tools, formats, how much to think. */
@NullMarked
package roselle.server.prompt;

import org.jspecify.annotations.NullMarked;
