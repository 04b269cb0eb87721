/** The dialect of OpenAI's API: chat completions, completions, models. */
@NullMarked
package roselle.server.openai;

import org.jspecify.annotations.NullMarked;
