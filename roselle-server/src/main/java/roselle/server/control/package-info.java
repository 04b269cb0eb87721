/** What operators and tools ask beside the APIs: health, readiness, version, tokens of a text. */
@NullMarked
package roselle.server.control;

import org.jspecify.annotations.NullMarked;
