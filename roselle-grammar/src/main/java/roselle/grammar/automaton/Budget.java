package roselle.grammar.automaton;

/**
 * What one piece of work on a constraint may cost: units of work, each well below a microsecond, and objects kept.
 *
 * <p>Units are counted and no clock is read, so that the same constraint is refused everywhere or nowhere. Work is refilled for
 * each piece of work; what is kept is never given back while the constraint lives.
 */
public final class Budget {
    private final long workUnits;
    private final long stepUnits;
    private final long answerUnits;
    private final long keptUnits;
    private long workLeft;
    private long keptLeft;
    private long answerLeft;
    private long moreLeft; // of what an answer has, for this piece of work
    private long allowed; // of the piece of work that is done
    private boolean isHeld;

    /**
     * A budget.
     *
     * @param workUnits for building the constraint
     * @param stepUnits for each step behind it
     * @param answerUnits beyond that, for all steps of an answer together; no step costs more than building
     * @param keptUnits for the life of the constraint, about 100 bytes each
     */
    public Budget(long workUnits, long stepUnits, long answerUnits, long keptUnits) {
        this.workUnits = workUnits;
        this.stepUnits = stepUnits;
        this.answerUnits = answerUnits;
        this.keptUnits = keptUnits;
        this.allowed = workUnits;
        this.workLeft = workUnits;
        this.keptLeft = keptUnits;
    }

    /** A budget whose every piece of work may cost the same. */
    public Budget(long workUnits, long keptUnits) {
        this(workUnits, workUnits, 0, keptUnits);
    }

    /** Begins a piece of work that is a single step, unless it is part of one that {@link #hold} began. */
    public void refill() {
        if (!isHeld) {
            allowed = stepUnits;
            workLeft = stepUnits;
            moreLeft = Math.max(0, workUnits - stepUnits);
        }
    }

    /** Begins an answer, for which some steps may cost more. */
    public void beginAnswer() {
        answerLeft = answerUnits;
    }

    /** Begins a step that is made of smaller ones. */
    public void hold() {
        isHeld = false;
        refill();
        isHeld = true;
    }

    /** Ends a step that is made of smaller ones. */
    public void release() {
        isHeld = false;
    }

    public void spend(long units) {
        workLeft -= units;
        if (workLeft < 0) {
            long more = Math.min(-workLeft, Math.min(moreLeft, answerLeft));
            moreLeft -= more;
            answerLeft -= more;
            workLeft += more;
        }
        if (workLeft < 0) {
            throw new GrammarException(
                    GrammarException.Reason.BUDGET,
                    "the constraint needs more than " + allowed + " units of work at once.");
        }
    }

    /** Counts what stays in memory. */
    public void keep(long units) {
        keptLeft -= units;
        if (keptLeft < 0) {
            throw new GrammarException(
                    GrammarException.Reason.BUDGET,
                    "the constraint needs more than " + keptUnits + " units of memory.");
        }
    }

    /** Units of work that are left of this piece. */
    public long workLeft() {
        return workLeft;
    }

    /** Units kept so far. */
    public long kept() {
        return keptUnits - keptLeft;
    }
}
