/** The adapters of an engine: known by name, in memory while there is room or somebody uses them. */
@NullMarked
package roselle.engine.adapter;

import org.jspecify.annotations.NullMarked;
