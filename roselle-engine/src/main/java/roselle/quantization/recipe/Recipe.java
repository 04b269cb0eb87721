package roselle.quantization.recipe;

import java.util.List;
import java.util.regex.Pattern;
import roselle.tensor.DataType;

/**
 * What is asked of a conversion.
 *
 * @param rules types of tensors whose names have a pattern in them; the first that fits holds
 * @param isPure whether all other tensors that are quantized have the mix's own type
 * @param mayLoseTwice whether tensors that are quantized already may be quantized again
 */
public record Recipe(Mix mix, List<Rule> rules, boolean isPure, boolean mayLoseTwice) {
    /** A type for tensors by name. */
    public record Rule(Pattern pattern, DataType type) {}

    public Recipe {
        rules = List.copyOf(rules);
    }
}
