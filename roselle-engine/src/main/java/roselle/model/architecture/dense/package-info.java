/** Families without experts whose norms, positions or halves of a layer are their own. */
@NullMarked
package roselle.model.architecture.dense;

import org.jspecify.annotations.NullMarked;
