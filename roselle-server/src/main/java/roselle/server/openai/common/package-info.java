/** What the dialects of OpenAI's API share: words for errors, keys, ends of streams, fields of conversations and of generations. */
@NullMarked
package roselle.server.openai.common;

import org.jspecify.annotations.NullMarked;
