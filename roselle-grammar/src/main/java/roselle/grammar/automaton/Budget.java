package roselle.grammar.automaton;

/**
 * What one piece of work on a constraint may cost: units of work, each well below a microsecond, and objects kept.
 *
 * <p>Units are counted and no clock is read, so that the same constraint is refused everywhere or nowhere. Work is refilled for
 * each piece of work; what is kept is never given back while the constraint lives.
 */
public final class Budget {
    private final long workUnits;
    private final long keptUnits;
    private long workLeft;
    private long keptLeft;

    /**
     * A budget.
     *
     * @param workUnits for each piece of work
     * @param keptUnits for the life of the constraint, about 100 bytes each
     */
    public Budget(long workUnits, long keptUnits) {
        this.workUnits = workUnits;
        this.keptUnits = keptUnits;
        this.workLeft = workUnits;
        this.keptLeft = keptUnits;
    }

    /** Begins a piece of work. */
    public void refill() {
        workLeft = workUnits;
    }

    public void spend(long units) {
        workLeft -= units;
        if (workLeft < 0) {
            throw new GrammarException(
                    GrammarException.Reason.BUDGET,
                    "the constraint needs more than " + workUnits + " units of work at once.");
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
