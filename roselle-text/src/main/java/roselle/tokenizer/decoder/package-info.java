/** What comes behind a model: post-processors that add tokens, decoders that join pieces. */
@NullMarked
package roselle.tokenizer.decoder;

import org.jspecify.annotations.NullMarked;
