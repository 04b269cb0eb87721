/** Tests of the engine as its users see it. */
@NullMarked
package roselle.engine;

import org.jspecify.annotations.NullMarked;
