package roselle.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Options of commands as Markdown, and the options that documents name. */
final class OptionTables {
    /** A table in a document, and the command whose options it lists. */
    private static final Pattern TABLE =
            Pattern.compile("(?s)<!-- options: ([a-z ]+?) -->\n(.*?)(?=<!-- (?:end|options: [a-z ]+?) -->)");

    private static final Pattern NAMED = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9_-]*");
    private static final Pattern FIRST_SENTENCE = Pattern.compile("(?s)^(.*?\\.)(?: |$).*");
    private static final Pattern DEFAULT = Pattern.compile("(?:^|; )[Dd]efault: (.*)\\.$");
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{env:[A-Z_]+:-(.*)}");

    /** What every command has, listed once: in the table of the executable itself. */
    private static final List<String> COMMON = List.of("--help", "--version", "--debug");

    private OptionTables() {}

    /** Every command below {@code root} that has options of its own, by its words behind the executable's name. */
    static Map<String, CommandSpec> commands(CommandSpec root) {
        var commands = new TreeMap<String, CommandSpec>();
        collect("", root, commands);
        return commands;
    }

    private static void collect(String prefix, CommandSpec command, Map<String, CommandSpec> commands) {
        for (CommandLine each : command.subcommands().values()) {
            CommandSpec below = each.getCommandSpec();
            String name = (prefix + " " + below.name()).strip();
            if (options(below).findAny().isPresent()) {
                commands.put(name, below);
            }
            collect(name, below, commands);
        }
    }

    /** A command's options as a table: name with parameter, default, first sentence of the description. */
    static String table(CommandSpec command) {
        return options(command)
                .map(OptionTables::row)
                .collect(Collectors.joining("", "| option | default | meaning |\n|---|---|---|\n", ""));
    }

    private static Stream<OptionSpec> options(CommandSpec command) {
        return command.options().stream().filter(option -> !option.hidden() && !COMMON.contains(option.longestName()));
    }

    private static String row(OptionSpec option) {
        String sentence = FIRST_SENTENCE
                .matcher(String.join(" ", option.description()))
                .replaceFirst("$1")
                .replace("${DEFAULT-VALUE}", plain(option.defaultValue()));
        Matcher told = DEFAULT.matcher(sentence);
        boolean tells = told.find();
        String value = tells ? told.group(1) : plain(option.defaultValue());
        String meaning = tells ? sentence.substring(0, told.start()) : sentence;
        return "| %s | %s | %s |\n"
                .formatted(names(option), cell(value), cell(meaning))
                .replaceAll(" {2,}", " ");
    }

    private static String cell(String text) {
        return text.replaceFirst("\\.$", "").replace("|", "\\|");
    }

    private static String plain(@Nullable String value) {
        return value == null ? "" : VARIABLE.matcher(value).replaceFirst("$1");
    }

    private static String names(OptionSpec option) {
        String parameter = option.arity().max() == 0 ? "" : " " + cell(option.paramLabel());
        return spellings(option).collect(Collectors.joining("`, `", "`", parameter + "`"));
    }

    private static Stream<String> spellings(OptionSpec option) {
        return Stream.concat(
                Stream.of(option.names()),
                Stream.of(option.names())
                        .filter(name -> option.negatable())
                        .filter(name -> name.startsWith("--"))
                        .map(name -> "--no-" + name.substring(2)));
    }

    /** The document with each of its tables as the commands have it. */
    static String rewritten(String document, Map<String, CommandSpec> commands) {
        return TABLE.matcher(document).replaceAll(found -> {
            CommandSpec command = commands.get(found.group(1));
            String table =
                    command == null ? "there is no command " + found.group(1) + " with options\n" : table(command);
            return Matcher.quoteReplacement("<!-- options: %s -->\n%s".formatted(found.group(1), table));
        });
    }

    /** The commands whose tables a document has. */
    static List<String> listed(String document) {
        return TABLE.matcher(document).results().map(found -> found.group(1)).toList();
    }

    /** Every long option of every command. */
    static Set<String> known(CommandSpec root) {
        var known =
                root.options().stream().flatMap(OptionTables::spellings).collect(Collectors.toCollection(TreeSet::new));
        for (CommandLine each : root.subcommands().values()) {
            known.addAll(known(each.getCommandSpec()));
        }
        return known;
    }

    /** The options that a document names and that are not known, each with its line. */
    static List<String> unknown(String name, String document, Function<String, Boolean> isKnown) {
        var unknown = new ArrayList<String>();
        List<String> lines = document.lines().toList();
        for (int line = 0; line < lines.size(); line++) {
            Matcher named = NAMED.matcher(lines.get(line));
            while (named.find()) {
                if (!isKnown.apply(named.group())) {
                    unknown.add("%s:%d names %s, which no command has".formatted(name, line + 1, named.group()));
                }
            }
        }
        return unknown;
    }
}
