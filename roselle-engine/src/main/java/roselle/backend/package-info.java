/** The contract of a device. */
@NullMarked
package roselle.backend;

import org.jspecify.annotations.NullMarked;
