package roselle.grammar.automaton;

/**
 * A constraint that is built anew, for answers that begin, once what it has kept takes half of its budget: however many answers it
 * serves, none finds the budget spent by those before. Answers that run go on with the states they have. Thread-safe.
 */
public final class RenewedConstraint implements Constraint {
    /** What builds the constraint, the same each time. */
    @FunctionalInterface
    public interface Source {
        Constraint build(Budget budget);
    }

    private final Source source;
    private final long workUnits;
    private final long stepUnits;
    private final long answerUnits;
    private final long keptUnits;
    private Budget budget;
    private long keptAtFirst;
    private Constraint current;

    /** Builds the constraint; the units are those of its {@link Budget}. */
    public RenewedConstraint(Source source, long workUnits, long stepUnits, long answerUnits, long keptUnits) {
        this.source = source;
        this.workUnits = workUnits;
        this.stepUnits = stepUnits;
        this.answerUnits = answerUnits;
        this.keptUnits = keptUnits;
        this.budget = new Budget(workUnits, stepUnits, answerUnits, keptUnits);
        this.current = source.build(budget);
        this.keptAtFirst = budget.kept();
    }

    @Override
    public synchronized State start() {
        if (budget.kept() - keptAtFirst > (keptUnits - keptAtFirst) / 2) {
            budget = new Budget(workUnits, stepUnits, answerUnits, keptUnits);
            current = source.build(budget);
            keptAtFirst = budget.kept();
        }
        budget.beginAnswer();
        return current.start();
    }

    @Override
    public synchronized void beginStep() {
        budget.hold();
    }

    @Override
    public synchronized void endStep() {
        budget.release();
    }
}
