package roselle.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Completions for fish, which the parser of command lines cannot write: a line for each command and option. */
final class FishCompletion {
    private final StringBuilder script = new StringBuilder();
    private final String program;

    private FishCompletion(String program) {
        this.program = program;
    }

    static String of(String program, CommandLine root) {
        var completion = new FishCompletion(program);
        completion.script.append("complete -c ").append(program).append(" -e\n"); // what was read before
        completion.add("__fish_use_subcommand", root.getCommandSpec(), "");
        return completion.script.toString();
    }

    /** What may follow where {@code condition} holds, and below. */
    private void add(String condition, CommandSpec command, String path) {
        Map<String, CommandLine> below = new LinkedHashMap<>(command.subcommands());
        String among = path.isEmpty()
                ? condition
                : condition + "; and not __fish_seen_subcommand_from " + String.join(" ", below.keySet());
        below.forEach((name, each) -> line(among)
                .append(" -f -a ")
                .append(quoted(name))
                .append(description(each.getCommandSpec().usageMessage().description())));
        command.options().forEach(option -> add(condition, option));
        below.forEach((name, each) -> {
            String inside = "__fish_seen_subcommand_from " + name;
            add(path.isEmpty() ? inside : condition + "; and " + inside, each.getCommandSpec(), path + " " + name);
        });
    }

    private void add(String condition, OptionSpec option) {
        StringBuilder line = line(condition);
        for (String name : option.names()) {
            boolean isLong = name.startsWith("--");
            line.append(isLong ? " -l " : " -s ").append(name.substring(isLong ? 2 : 1));
        }
        line.append(option.arity().max() > 0 ? " -r" : "").append(description(option.description()));
    }

    private StringBuilder line(String condition) {
        if (!script.isEmpty() && script.charAt(script.length() - 1) != '\n') {
            script.append('\n');
        }
        return script.append("complete -c ").append(program).append(" -n ").append(quoted(condition));
    }

    private static String description(String[] words) {
        return words.length == 0 ? "" : " -d " + quoted(words[0].replaceAll("\\$\\{[^}]*}", "…"));
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
