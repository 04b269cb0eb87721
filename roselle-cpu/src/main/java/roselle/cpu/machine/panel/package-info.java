/** Panels: how weights, keys and values lie for machine code, and the code that packs and decodes them. */
@NullMarked
package roselle.cpu.machine.panel;

import org.jspecify.annotations.NullMarked;
