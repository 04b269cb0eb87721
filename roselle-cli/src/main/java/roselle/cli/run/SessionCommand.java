package roselle.cli.run;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What can be said to a conversation's console instead of to the model. */
enum SessionCommand {
    SYSTEM("TEXT", "set the system message, and begin anew"),
    SET("NAME VALUE", "set temperature, seed …; no VALUE: as it was; alone: tell all"),
    REGENERATE("", "have the last answer written again"),
    RESET("", "begin anew"),
    CLEAR("", "begin anew on an empty screen"),
    STATS("", "tell how fast the last answer was"),
    SAVE("FILE", "write the conversation as JSON messages"),
    LOAD("FILE", "go on with a conversation that was saved"),
    HELP("", "tell this"),
    EXIT("", "leave, as Ctrl-D does");

    private final String argument;
    private final String summary;

    SessionCommand(String argument, String summary) {
        this.argument = argument;
        this.summary = summary;
    }

    /** As it is typed. */
    String word() {
        return "/" + name().toLowerCase(Locale.ROOT);
    }

    static List<String> words() {
        return Arrays.stream(values()).map(SessionCommand::word).toList();
    }

    /** All of them, a line each. */
    static String describe() {
        return Arrays.stream(values())
                .map(each -> String.format(
                        Locale.ROOT, "%-15s %s%n", (each.word() + " " + each.argument).strip(), each.summary))
                .collect(Collectors.joining());
    }
}
