/** Send requests at the moments that were planned, whatever the answers do, and note when each token came. */
@NullMarked
package roselle.bench.load;

import org.jspecify.annotations.NullMarked;
