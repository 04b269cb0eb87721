/** The dialect of Cohere's API: vectors and ranks of texts; of ranks also in the forms of Jina, vLLM and TEI. */
@NullMarked
package roselle.server.cohere;

import org.jspecify.annotations.NullMarked;
