package roselle.cli.report;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** What is wrong with a command line, in a sentence that speaks of options and commands rather than of Java. */
public final class UsageMessage {
    /** How picocli names the types of values, and what people call them. */
    private static final Map<String, String> KINDS = Map.of(
            "' is not an int", "' is not a whole number below 2147483648",
            "' is not a long", "' is not a whole number below 9223372036854775808",
            "' is not a double", "' is not a number",
            "' is not a float", "' is not a number");

    private UsageMessage() {}

    public static String sentence(ParameterException failure) {
        if (failure instanceof UnmatchedArgumentException unmatched) {
            return unknown(failure.getCommandLine(), unmatched.getUnmatched().getFirst());
        }
        String message = String.valueOf(failure.getMessage());
        for (var kind : KINDS.entrySet()) {
            message = message.replace(kind.getKey(), kind.getValue());
        }
        return message;
    }

    private static String unknown(CommandLine command, String word) {
        if (word.startsWith("-")) {
            String name = word.split("=", 2)[0];
            Stream<String> options = command.getCommandSpec().options().stream().map(OptionSpec::longestName);
            return command.getCommandSpec().qualifiedName() + " has no option " + name + advice(name, options);
        }
        if (!command.getSubcommands().isEmpty()) {
            return "there is no command " + word + advice(word, command.getSubcommands().keySet().stream());
        }
        return "'" + word + "' is one word too many for "
                + command.getCommandSpec().qualifiedName();
    }

    private static String advice(String wanted, Stream<String> names) {
        List<String> near = NearNames.of(wanted, names);
        return near.isEmpty() ? "" : "; did you mean " + String.join(" or ", near) + "?";
    }
}
