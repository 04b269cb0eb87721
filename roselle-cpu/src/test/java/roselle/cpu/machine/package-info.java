@NullMarked
package roselle.cpu.machine;

import org.jspecify.annotations.NullMarked;
