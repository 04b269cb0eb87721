/** Families whose feed-forwards are experts. */
@NullMarked
package roselle.model.architecture.expert;

import org.jspecify.annotations.NullMarked;
