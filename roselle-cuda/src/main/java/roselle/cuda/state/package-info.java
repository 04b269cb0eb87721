/** Layers that go on from a state on GPUs: convolutions along sequences, and the delta rule. */
@NullMarked
package roselle.cuda.state;

import org.jspecify.annotations.NullMarked;
