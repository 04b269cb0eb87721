/** Describe decoders as data and run them. */
@NullMarked
package roselle.model;

import org.jspecify.annotations.NullMarked;
