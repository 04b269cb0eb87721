package roselle.batch;

import roselle.kvcache.SequencePages;

/** A sequence that wants to run and has no pages. */
public sealed interface Pending extends SequenceState permits Waiting, Preempted {
    /** Starts it on {@code pages}, which it now owns, {@code computed} tokens of which are in the cache already. */
    Running admit(SequencePages pages, int computed);

    /** Ends it before it ran (again). */
    Finished finish(Outcome outcome);
}
