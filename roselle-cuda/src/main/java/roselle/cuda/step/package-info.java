/** What a step of a shape needs: memory that is taken once, and the graph that replays it. */
@NullMarked
package roselle.cuda.step;

import org.jspecify.annotations.NullMarked;
