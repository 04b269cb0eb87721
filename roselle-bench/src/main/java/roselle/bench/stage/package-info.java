/** The measurements put together from traces, load and metrics: online replay, offline throughput, capacity. */
@NullMarked
package roselle.bench.stage;

import org.jspecify.annotations.NullMarked;
