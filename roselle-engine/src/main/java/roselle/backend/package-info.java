/** The contract of a device: how it is opened, what it holds and runs. */
@NullMarked
package roselle.backend;

import org.jspecify.annotations.NullMarked;
