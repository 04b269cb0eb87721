/** The contracts of a device and of the operations that its steps run. */
@NullMarked
package roselle.backend;

import org.jspecify.annotations.NullMarked;
