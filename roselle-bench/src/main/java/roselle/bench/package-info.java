/** Measure the speed of models, of the engine and of servers. */
@NullMarked
package roselle.bench;

import org.jspecify.annotations.NullMarked;
