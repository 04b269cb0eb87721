package roselle.batch;

import roselle.kvcache.SequencePages;

/** A sequence that has not run yet. */
public final class Waiting implements Pending {
    private final Sequence sequence;

    Waiting(Sequence sequence) {
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
