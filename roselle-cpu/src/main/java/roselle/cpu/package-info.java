/** The processor as a device: it keeps to the contract with the parts below. */
@NullMarked
package roselle.cpu;

import org.jspecify.annotations.NullMarked;
