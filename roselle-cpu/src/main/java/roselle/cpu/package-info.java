/** That contract with the Vector API: one file per operation, one per format, each with its scalar twin. */
@NullMarked
package roselle.cpu;

import org.jspecify.annotations.NullMarked;
