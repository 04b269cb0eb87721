/** Attention over KV pages, for prefill and decode. */
@NullMarked
package roselle.cpu.attention;

import org.jspecify.annotations.NullMarked;
