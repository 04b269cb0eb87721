package roselle.model.adapter;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import roselle.api.CheckpointException;
import roselle.checkpoint.BoundedText;

/** The end of a module's name as a regular expression, as the patterns of PEFT are: {@code (.*\.)?(expression)$}. */
final class ModuleExpression {
    private ModuleExpression() {}

    static boolean matches(String expression, String module, String origin) {
        if (expression.chars().allMatch(c -> Character.isLetterOrDigit(c) || c == '_')) {
            return module.equals(expression) || module.endsWith("." + expression);
        }
        try {
            var bounded =
                    new BoundedText(module, origin + ": the pattern " + expression + " takes too long for " + module);
            return Pattern.compile("(.*\\.)?(" + expression + ")")
                    .matcher(bounded)
                    .matches();
        } catch (PatternSyntaxException e) {
            throw new CheckpointException(origin + ": the pattern " + expression + " is no regular expression", e);
        }
    }
}
