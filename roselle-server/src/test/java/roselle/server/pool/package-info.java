/** Tests of models that share one memory. */
@NullMarked
package roselle.server.pool;

import org.jspecify.annotations.NullMarked;
