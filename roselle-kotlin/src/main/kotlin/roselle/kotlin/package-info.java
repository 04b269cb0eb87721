/** Engines in Kotlin: answers as flows and suspending functions, whose cancellation ends the generation. */
@NullMarked
package roselle.kotlin;

import org.jspecify.annotations.NullMarked;
