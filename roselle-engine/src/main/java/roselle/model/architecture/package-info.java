/** One small file per family of decoders: its metadata in, a DecoderSpec out. */
@NullMarked
package roselle.model.architecture;

import org.jspecify.annotations.NullMarked;
