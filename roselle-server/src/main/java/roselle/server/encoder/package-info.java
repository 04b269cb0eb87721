/** What encoders are asked for alike, whatever API asks: vectors, their beginnings, scores, ranks. */
@NullMarked
package roselle.server.encoder;

import org.jspecify.annotations.NullMarked;
