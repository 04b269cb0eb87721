/** Rows of data in, answers out: many callers' rows in one engine at a time, each caller's in their order. */
@NullMarked
package roselle.offline;

import org.jspecify.annotations.NullMarked;
