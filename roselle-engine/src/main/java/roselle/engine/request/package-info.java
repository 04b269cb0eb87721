/** A request inside the engine: the room it takes, its sequences, and the channel to who reads it. */
@NullMarked
package roselle.engine.request;

import org.jspecify.annotations.NullMarked;
