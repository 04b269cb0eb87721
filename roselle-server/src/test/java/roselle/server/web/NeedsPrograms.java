package roselle.server.web;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Names the programs that all tests of a class drive. Where one is missing each of the tests is reported as skipped, with a
 * sentence, which an assumption before all of them does not do: then they are not counted at all.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(NeedsPrograms.Condition.class)
@interface NeedsPrograms {
    String[] value();

    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return context.getTestClass()
                    .map(type -> type.getAnnotation(NeedsPrograms.class))
                    .map(needs -> evaluated(needs.value(), TestPrograms.ofThisSystem()))
                    .orElseGet(() -> ConditionEvaluationResult.enabled("no programs are needed"));
        }

        /** Where all programs must be there the tests are run, to fail. */
        static ConditionEvaluationResult evaluated(String[] names, TestPrograms programs) {
            return programs.missing(names)
                    .filter(_ -> !programs.mustBeThere())
                    .map(ConditionEvaluationResult::disabled)
                    .orElseGet(() -> ConditionEvaluationResult.enabled("every program is there, or must be"));
        }
    }
}
