package roselle.grammar.automaton;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BudgetTest {
    @Test
    void stepsOfAHeldStepShareItsUnits() {
        Budget budget = new Budget(100, 10, 10);
        budget.spend(90);
        budget.refill();
        budget.spend(8);
        budget.refill();
        budget.spend(8);
        budget.hold();
        budget.spend(8);
        budget.refill();
        assertThatThrownBy(() -> budget.spend(8))
                .isInstanceOf(GrammarException.class)
                .hasMessageContaining("more than 10 units of work");
        budget.release();
        budget.refill();
        budget.spend(8);
    }
}
