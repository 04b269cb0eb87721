/** The cache of models on disk, as Python's library lays it out, and parts of files that are on their way. */
@NullMarked
package roselle.hub.cache;

import org.jspecify.annotations.NullMarked;
