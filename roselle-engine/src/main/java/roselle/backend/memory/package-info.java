/** What a device holds: rows, weights, keys and values in pages. */
@NullMarked
package roselle.backend.memory;

import org.jspecify.annotations.NullMarked;
