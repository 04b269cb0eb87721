package roselle.quantization;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import roselle.api.CheckpointException;
import roselle.checkpoint.BoundedText;

/** Modules by their names, as lists of compressed-tensors have them: a whole name, or {@code re:} and what begins it. */
final class ModulePatterns {
    private static final String EXPRESSION = "re:";
    private static final String CLASS = "Linear";

    private final List<String> names = new ArrayList<>();
    private final List<Pattern> expressions = new ArrayList<>();

    ModulePatterns(MethodFields fields, List<String> written) {
        for (String name : written) {
            if (name.startsWith(EXPRESSION)) {
                expressions.add(compiled(fields, name.substring(EXPRESSION.length())));
            } else {
                names.add(name);
            }
        }
    }

    private static Pattern compiled(MethodFields fields, String expression) {
        try {
            return Pattern.compile(expression);
        } catch (PatternSyntaxException e) {
            throw new CheckpointException(
                    fields.config().origin() + ": " + EXPRESSION + expression + " is no regular expression");
        }
    }

    /** Whether they name the class of all products. */
    boolean haveClass() {
        return names.contains(CLASS);
    }

    boolean match(String module) {
        return names.contains(module)
                || expressions.stream()
                        .anyMatch(expression ->
                                expression.matcher(bounded(module, expression)).lookingAt());
    }

    private static BoundedText bounded(String module, Pattern expression) {
        return new BoundedText(
                module,
                "the expression " + EXPRESSION + expression + " of " + Quantization.FIELD + " takes too long for "
                        + module);
    }
}
