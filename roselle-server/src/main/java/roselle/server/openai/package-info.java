/** The dialect of OpenAI's API: chat completions, completions, embeddings, models, and vLLM's tokens of a text. */
@NullMarked
package roselle.server.openai;

import org.jspecify.annotations.NullMarked;
