/** What results say of where they were measured: machine, versions, graphics cards, energy. */
@NullMarked
package roselle.bench.environment;

import org.jspecify.annotations.NullMarked;
