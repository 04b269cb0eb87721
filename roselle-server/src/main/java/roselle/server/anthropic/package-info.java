/** The dialect of Anthropic's Messages: answers whole or as events of blocks, counts of tokens, models. */
@NullMarked
package roselle.server.anthropic;

import org.jspecify.annotations.NullMarked;
