/** Read GGUF: header, metadata, tensors, in one file or in parts. */
@NullMarked
package roselle.checkpoint.gguf;

import org.jspecify.annotations.NullMarked;
