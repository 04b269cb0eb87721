package roselle.model.adapter;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import roselle.api.CheckpointException;

/** The end of a module's name as a regular expression, as the patterns of PEFT are: {@code (.*\.)?(expression)$}. */
final class ModuleExpression {
    private static final int MOST_STEPS = 100_000;

    private ModuleExpression() {}

    static boolean matches(String expression, String module, String origin) {
        if (expression.chars().allMatch(c -> Character.isLetterOrDigit(c) || c == '_')) {
            return module.equals(expression) || module.endsWith("." + expression);
        }
        try {
            var counted = new Counted(module, origin + ": the pattern " + expression + " takes too long for " + module);
            return Pattern.compile("(.*\\.)?(" + expression + ")")
                    .matcher(counted)
                    .matches();
        } catch (PatternSyntaxException e) {
            throw new CheckpointException(origin + ": the pattern " + expression + " is no regular expression", e);
        }
    }

    /** A name that an expression may look at for so long: some would take for ever. */
    private static final class Counted implements CharSequence {
        private final String text;
        private final String failure;
        private int steps;

        Counted(String text, String failure) {
            this.text = text;
            this.failure = failure;
        }

        @Override
        public char charAt(int index) {
            if (++steps > MOST_STEPS) {
                throw new CheckpointException(failure);
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.substring(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
