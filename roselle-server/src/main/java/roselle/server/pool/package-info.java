/** Many models in one memory: loaded when they are asked for, unloaded when another needs their place. */
@NullMarked
package roselle.server.pool;

import org.jspecify.annotations.NullMarked;
