/** A model's configuration under the names of either format, and the builder of what it describes. */
@NullMarked
package roselle.model.config;

import org.jspecify.annotations.NullMarked;
