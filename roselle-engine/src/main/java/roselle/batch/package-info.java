/** The engine's nouns: Sequence (one request's mutable state) and Batch (a ragged step). */
@NullMarked
package roselle.batch;

import org.jspecify.annotations.NullMarked;
