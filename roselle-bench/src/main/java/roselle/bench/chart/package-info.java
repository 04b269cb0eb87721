/** Pictures of results: the same drawing as SVG, as PNG, and inline in a page. */
@NullMarked
package roselle.bench.chart;

import org.jspecify.annotations.NullMarked;
