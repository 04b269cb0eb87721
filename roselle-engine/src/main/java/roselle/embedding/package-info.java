/** Turn texts into vectors and scores: encoders in batches, pooling, and what comes behind it. */
@NullMarked
package roselle.embedding;

import org.jspecify.annotations.NullMarked;
