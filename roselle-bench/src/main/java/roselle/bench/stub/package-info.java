/** An endpoint that answers without a model, with delays from a script: the yardstick of the load generator. */
@NullMarked
package roselle.bench.stub;

import org.jspecify.annotations.NullMarked;
