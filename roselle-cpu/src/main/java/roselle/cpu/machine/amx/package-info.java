/** GEMM in AMX tiles: the code, its scalar twin, and the proof before anyone uses it. */
@NullMarked
package roselle.cpu.machine.amx;

import org.jspecify.annotations.NullMarked;
