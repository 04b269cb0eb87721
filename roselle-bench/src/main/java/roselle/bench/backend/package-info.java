/** The engines that are measured: what their API takes, how they are started, and how they are stopped for certain. */
@NullMarked
package roselle.bench.backend;

import org.jspecify.annotations.NullMarked;
