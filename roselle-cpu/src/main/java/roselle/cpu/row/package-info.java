/** Operations on single rows: norms, rotary positions, gates, sums, the choice of experts. */
@NullMarked
package roselle.cpu.row;

import org.jspecify.annotations.NullMarked;
