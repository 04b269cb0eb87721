/** The dialect of llama.cpp's server: completions in its form, and what it tells of itself. */
@NullMarked
package roselle.server.llamacpp;

import org.jspecify.annotations.NullMarked;
