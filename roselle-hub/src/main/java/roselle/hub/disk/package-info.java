/** Small files that are never half written, whatever fails. */
@NullMarked
package roselle.hub.disk;

import org.jspecify.annotations.NullMarked;
