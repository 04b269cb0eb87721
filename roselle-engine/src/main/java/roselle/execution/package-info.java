/** Run one batch on all ranks: inputs, forward, graph replay, sampling. */
@NullMarked
package roselle.execution;

import org.jspecify.annotations.NullMarked;
