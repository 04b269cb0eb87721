/** Texts of strangers: paths that are safe to have, words that are safe to show. */
@NullMarked
package roselle.hub.text;

import org.jspecify.annotations.NullMarked;
