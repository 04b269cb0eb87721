/** The commands that serve: the server with its options, and its keys. */
@NullMarked
package roselle.cli.serve;

import org.jspecify.annotations.NullMarked;
