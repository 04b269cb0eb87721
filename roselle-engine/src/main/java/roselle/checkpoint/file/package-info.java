/** Mapped files, and fields of headers that are checked before they are believed. */
@NullMarked
package roselle.checkpoint.file;

import org.jspecify.annotations.NullMarked;
