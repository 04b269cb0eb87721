/** The dialect of Ollama's API: answers as lines or whole, and what it tells of models. */
@NullMarked
package roselle.server.ollama;

import org.jspecify.annotations.NullMarked;
