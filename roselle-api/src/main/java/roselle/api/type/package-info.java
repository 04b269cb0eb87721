/** Answers of Java types: annotations of records, what is told while an answer is read, and what it comes to. */
@NullMarked
package roselle.api.type;

import org.jspecify.annotations.NullMarked;
