package roselle.batch;

/**
 * Where a sequence is in its life: waiting → running → finished, with any number of preemptions on the way.
 *
 * <p>Each state is a type that has only its own transitions, so an illegal one does not compile; a transition taken twice
 * from the same object throws, because the object is no longer the sequence's state.
 */
public sealed interface SequenceState permits Pending, Running, Finished {
    Sequence sequence();
}
