/** That contract with the Vector API: one file per operation, one kernel for all quantized formats, each with its scalar twin. */
@NullMarked
package roselle.cpu;

import org.jspecify.annotations.NullMarked;
