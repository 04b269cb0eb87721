/** The files of a repository, how they are checked, and which of them make up a model. */
@NullMarked
package roselle.hub.file;

import org.jspecify.annotations.NullMarked;
