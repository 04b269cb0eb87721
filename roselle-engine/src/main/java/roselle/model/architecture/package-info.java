/** All families of decoders, one small file each: its metadata in, a DecoderSpec out. */
@NullMarked
package roselle.model.architecture;

import org.jspecify.annotations.NullMarked;
