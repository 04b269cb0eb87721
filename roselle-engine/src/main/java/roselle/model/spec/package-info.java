/** Decoders as data: layers, attention, feed-forward, norms, rotary positions. */
@NullMarked
package roselle.model.spec;

import org.jspecify.annotations.NullMarked;
