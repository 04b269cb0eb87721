/** Tests of the package of the same name. */
@NullMarked
package roselle.server.ollama;

import org.jspecify.annotations.NullMarked;
