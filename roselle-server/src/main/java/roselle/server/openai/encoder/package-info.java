/** vLLM's scores and classes of texts, beside OpenAI's API. */
@NullMarked
package roselle.server.openai.encoder;

import org.jspecify.annotations.NullMarked;
