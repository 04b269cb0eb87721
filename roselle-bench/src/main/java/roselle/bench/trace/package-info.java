/** When requests arrive and how long they are: recorded or synthetic traces, and prompts of those lengths. */
@NullMarked
package roselle.bench.trace;

import org.jspecify.annotations.NullMarked;
