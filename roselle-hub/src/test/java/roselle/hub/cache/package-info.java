/** Tests of the cache's own files. */
@NullMarked
package roselle.hub.cache;

import org.jspecify.annotations.NullMarked;
