/** The rules of the house as tests; each has a saboteur that plants the fault and sees the rule bite. */
@NullMarked
package roselle.gates;

import org.jspecify.annotations.NullMarked;
