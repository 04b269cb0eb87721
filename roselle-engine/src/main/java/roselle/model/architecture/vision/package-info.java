/** Families beside an encoder of pictures or sound: their text. */
@NullMarked
package roselle.model.architecture.vision;

import org.jspecify.annotations.NullMarked;
