/** Families of encoders: texts in, hidden states out. */
@NullMarked
package roselle.model.architecture.encoder;

import org.jspecify.annotations.NullMarked;
