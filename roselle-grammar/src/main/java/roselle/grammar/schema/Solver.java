package roselle.grammar.schema;

import java.util.function.BooleanSupplier;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.GrammarException;

/**
 * Answers questions that ask each other, by the least fixpoint: what can be completed only by itself cannot be completed at all.
 *
 * <p>A no that leaned on a question still open is not kept, because that one may turn out yes.
 */
final class Solver {
    private static final int MAX_DEPTH = 700;

    private final Budget budget;
    private int depth;
    private int lowest = Integer.MAX_VALUE; // of the open questions that were leaned on

    Solver(Budget budget) {
        this.budget = budget;
    }

    boolean ask(Question question, BooleanSupplier search) {
        switch (question.answer) {
            case YES -> {
                return true;
            }
            case NO -> {
                return false;
            }
            case OPEN -> {
                lowest = Math.min(lowest, question.index);
                return false;
            }
            case UNKNOWN -> {}
        }
        if (depth > MAX_DEPTH) {
            throw new GrammarException(GrammarException.Reason.BUDGET, "values would have to be nested too deep.");
        }
        budget.spend(4);
        int outer = lowest;
        lowest = Integer.MAX_VALUE;
        question.answer = Question.Answer.OPEN;
        question.index = depth++;
        Question.Answer answer = Question.Answer.UNKNOWN;
        try {
            if (search.getAsBoolean()) {
                answer = Question.Answer.YES;
            } else if (lowest >= question.index) {
                answer = Question.Answer.NO;
                lowest = Integer.MAX_VALUE;
            }
        } finally {
            depth--;
            question.answer = answer;
            lowest = Math.min(outer, answer == Question.Answer.YES ? Integer.MAX_VALUE : lowest);
        }
        return answer == Question.Answer.YES;
    }
}
