/** Tests of the server under load, with a model that costs next to nothing. */
@NullMarked
package roselle.server.load;

import org.jspecify.annotations.NullMarked;
