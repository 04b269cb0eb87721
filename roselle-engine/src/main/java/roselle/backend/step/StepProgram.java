package roselle.backend.step;

import roselle.backend.operation.Operations;

/**
 * What a step computes: a decoder's forward.
 *
 * <p>A device may record the calls of a program when it runs, and replay them in a later step of the same sizes that is submitted
 * with the same object.
 */
@FunctionalInterface
public interface StepProgram {
    /**
     * Calls the operations of a step and does nothing else.
     *
     * @param operations of the device, valid during this call
     * @param inputs those that were submitted, or what they were
     */
    void run(Operations operations, StepInputs inputs);
}
