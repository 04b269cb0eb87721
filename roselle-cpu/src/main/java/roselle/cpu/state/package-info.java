/** Layers that go on from a state: convolutions along a sequence, and the delta rule. */
@NullMarked
package roselle.cpu.state;

import org.jspecify.annotations.NullMarked;
