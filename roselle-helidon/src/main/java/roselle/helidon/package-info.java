/** Models in a Helidon application: from its configuration, with a check of their health. */
@NullMarked
package roselle.helidon;

import org.jspecify.annotations.NullMarked;
