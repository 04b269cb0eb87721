/** Render chat messages into one prompt (a Jinja subset, sandboxed, with limits). */
@NullMarked
package roselle.template;

import org.jspecify.annotations.NullMarked;
