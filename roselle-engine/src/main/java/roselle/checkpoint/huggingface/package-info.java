/** Read folders of the Hugging Face layout: safetensors, their index, JSON beside them. */
@NullMarked
package roselle.checkpoint.huggingface;

import org.jspecify.annotations.NullMarked;
