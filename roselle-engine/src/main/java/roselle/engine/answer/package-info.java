/** What a reader makes of an answer's ids: text, stop strings, thoughts, calls, named log-probabilities. */
@NullMarked
package roselle.engine.answer;

import org.jspecify.annotations.NullMarked;
