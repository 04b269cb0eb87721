/** Tests of batches. */
@NullMarked
package roselle.server.batch;

import org.jspecify.annotations.NullMarked;
