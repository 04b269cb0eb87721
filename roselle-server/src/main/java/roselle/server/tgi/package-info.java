/** The dialect of Text Generation Inference: texts continued in its form, and what it tells of itself. */
@NullMarked
package roselle.server.tgi;

import org.jspecify.annotations.NullMarked;
