/** Models that clients make of others: what each adds to requests, in Ollama's words, and where they are kept. */
@NullMarked
package roselle.server.created;

import org.jspecify.annotations.NullMarked;
