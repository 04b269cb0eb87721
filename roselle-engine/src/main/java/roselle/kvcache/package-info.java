/** Own pages of keys and values: allocate, share by prefix, evict, export. */
@NullMarked
package roselle.kvcache;

import org.jspecify.annotations.NullMarked;
