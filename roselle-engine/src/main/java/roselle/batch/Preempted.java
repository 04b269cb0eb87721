package roselle.batch;

import roselle.kvcache.SequencePages;

/** A sequence that ran, gave its pages back for others, and will compute again what the cache no longer has. */
public final class Preempted implements Pending {
    private final Sequence sequence;

    Preempted(Sequence sequence) {
        this.sequence = sequence;
    }

    @Override
    public Sequence sequence() {
        return sequence;
    }

    @Override
    public Running admit(SequencePages pages, int computed) {
        return sequence.change(this, new Running(sequence, pages, computed));
    }

    @Override
    public Finished finish(Outcome outcome) {
        return sequence.change(this, new Finished(sequence, outcome));
    }
}
