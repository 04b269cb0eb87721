/** Open GGUF or safetensors as named tensors plus metadata. */
@NullMarked
package roselle.checkpoint;

import org.jspecify.annotations.NullMarked;
