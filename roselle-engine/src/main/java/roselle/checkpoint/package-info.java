/** Open GGUF or safetensors as named tensors plus metadata; find and download models. */
@NullMarked
package roselle.checkpoint;

import org.jspecify.annotations.NullMarked;
