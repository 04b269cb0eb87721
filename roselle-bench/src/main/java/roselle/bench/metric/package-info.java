/** What is computed from requests that were timed: latencies, percentiles with their counts, throughput, goodput, noise. */
@NullMarked
package roselle.bench.metric;

import org.jspecify.annotations.NullMarked;
