package roselle.batch;

/** A sequence that has ended; it holds nothing and stays as it is. */
public final class Finished implements SequenceState {
    private final Sequence sequence;
    private final Outcome outcome;

    Finished(Sequence sequence, Outcome outcome) {
        this.sequence = sequence;
        this.outcome = outcome;
    }

    @Override
    public Sequence sequence() {
        return sequence;
    }

    public Outcome outcome() {
        return outcome;
    }
}
