/** Strict JSON within limits, for whoever reads it from strangers. */
@NullMarked
package roselle.json;

import org.jspecify.annotations.NullMarked;
