/** Give models of the Hugging Face layout the names, keys and orders of rows that GGUF has. */
@NullMarked
package roselle.checkpoint.conversion;

import org.jspecify.annotations.NullMarked;
