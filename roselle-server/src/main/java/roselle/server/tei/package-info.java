/** The dialect of Text Embeddings Inference: vectors of texts, and what classifiers say of them. */
@NullMarked
package roselle.server.tei;

import org.jspecify.annotations.NullMarked;
