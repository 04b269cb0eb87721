/** Families in which some layers keep a state in the place of keys and values. */
@NullMarked
package roselle.model.architecture.hybrid;

import org.jspecify.annotations.NullMarked;
