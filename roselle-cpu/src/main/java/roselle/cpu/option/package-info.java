/** What a processor is opened with: threads, the path that GEMMs take, their precision. */
@NullMarked
package roselle.cpu.option;

import org.jspecify.annotations.NullMarked;
