/** The page at {@code /}: chat and a live dashboard, as files from the jar. */
@NullMarked
package roselle.server.web;

import org.jspecify.annotations.NullMarked;
