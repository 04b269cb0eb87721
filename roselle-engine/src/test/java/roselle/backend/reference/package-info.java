/** A device that computes plainly: what every other one is compared with. */
@NullMarked
package roselle.backend.reference;

import org.jspecify.annotations.NullMarked;
