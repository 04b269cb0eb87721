/** The operations of which steps are made, and the layers, norms and gates that they are called with. */
@NullMarked
package roselle.backend.operation;

import org.jspecify.annotations.NullMarked;
