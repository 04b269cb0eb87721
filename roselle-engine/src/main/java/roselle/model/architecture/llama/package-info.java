/** Families of Llama's shape: two norms, rotary positions and one feed-forward in each layer. */
@NullMarked
package roselle.model.architecture.llama;

import org.jspecify.annotations.NullMarked;
