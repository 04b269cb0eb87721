/** Attention over KV pages on GPUs, for prefill and decode, of heads and of latents. */
@NullMarked
package roselle.cuda.attention;

import org.jspecify.annotations.NullMarked;
