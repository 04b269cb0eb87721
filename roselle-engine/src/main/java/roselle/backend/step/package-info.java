/** A step as a device is given it: its rows, its limits, its program, and the sampling behind it. */
@NullMarked
package roselle.backend.step;

import org.jspecify.annotations.NullMarked;
