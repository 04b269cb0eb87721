package roselle.grammar.automaton;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class BudgetTest {
    @Test
    void stepsOfAHeldStepShareItsUnits() {
        Budget budget = new Budget(100, 10, 0, 10);
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

    @Test
    void stepsOfAnAnswerShareWhatTheyMayCostBeyondTheirOwn() {
        Budget budget = new Budget(25, 10, 20, 10);
        budget.refill();
        assertThatThrownBy(() -> budget.spend(11)).isInstanceOf(GrammarException.class); // no answer has begun
        budget.beginAnswer();
        budget.refill();
        budget.spend(22);
        budget.refill();
        budget.spend(18);
        budget.refill();
        assertThatThrownBy(() -> budget.spend(11)).isInstanceOf(GrammarException.class);
        budget.beginAnswer();
        budget.refill();
        budget.spend(25);
        assertThatThrownBy(() -> budget.spend(1))
                .isInstanceOf(GrammarException.class); // no step takes more than building
    }
}
