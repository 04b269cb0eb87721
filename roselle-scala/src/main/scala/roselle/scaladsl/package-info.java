/** Engines in Scala 3: requests with options by name, answers as iterators and futures. */
@NullMarked
package roselle.scaladsl;

import org.jspecify.annotations.NullMarked;
