/** Render chat messages into one prompt: a Jinja subset, compiled, sandboxed, with limits. */
@NullMarked
package roselle.jinja;

import org.jspecify.annotations.NullMarked;
