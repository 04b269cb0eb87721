/** Logits to tokens: penalties, masks, top-k/top-p/min-p, logprobs, acceptance of drafts. */
@NullMarked
package roselle.sampling;

import org.jspecify.annotations.NullMarked;
