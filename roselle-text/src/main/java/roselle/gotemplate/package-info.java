/** Render chat messages as Ollama does, by templates in Go's language, within the limits that Jinja templates have. */
@NullMarked
package roselle.gotemplate;

import org.jspecify.annotations.NullMarked;
