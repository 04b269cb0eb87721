/** Decide which sequences advance by how many tokens: pure, no thread, clock or device. */
@NullMarked
package roselle.scheduler;

import org.jspecify.annotations.NullMarked;
