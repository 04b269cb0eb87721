package roselle.cli.report;

import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_COMMAND_LIST;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_OPTION_LIST;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Usage texts in groups: commands by what they are for, options by the class that has them, each under a heading. */
public final class GroupedHelp {
    private static final int MOST_IN_SYNOPSIS = 8;
    private static final String OWN = "";
    private static final String COMMON = "Every command";
    private static final Set<String> COMMON_OPTIONS = Set.of("--help", "--version", "--debug");

    private GroupedHelp() {}

    /** Has a command and those below it explain themselves in groups; {@code groups} are its own commands by heading. */
    public static void install(CommandLine command, Map<String, List<String>> groups) {
        command.getHelpSectionMap().put(SECTION_KEY_OPTION_LIST, GroupedHelp::options);
        boolean hasMany = command.getCommandSpec().options().size() > MOST_IN_SYNOPSIS;
        command.getCommandSpec().usageMessage().abbreviateSynopsis(hasMany);
        if (!groups.isEmpty()) {
            command.getHelpSectionMap().put(SECTION_KEY_COMMAND_LIST_HEADING, _ -> "");
            command.getHelpSectionMap().put(SECTION_KEY_COMMAND_LIST, help -> commands(help, groups));
        }
        new HashSet<>(command.getSubcommands().values()).forEach(each -> install(each, Map.of()));
    }

    // ---- commands ----

    /** Those of no group come last. */
    private static String commands(Help help, Map<String, List<String>> groups) {
        var text = new StringBuilder();
        Map<String, Help> rest = new LinkedHashMap<>(help.subcommands());
        groups.forEach((heading, names) -> {
            text.append(heading(heading));
            for (String name : names) {
                Help command = rest.remove(name);
                text.append(command == null ? "" : line(name, command));
            }
        });
        if (!rest.isEmpty()) {
            text.append(heading("Others"));
            rest.forEach((name, command) -> text.append(line(name, command)));
        }
        return text.toString();
    }

    private static String line(String name, Help command) {
        UsageMessageSpec usage = command.commandSpec().usageMessage();
        String[] words = usage.header().length > 0 ? usage.header() : usage.description();
        return String.format(Locale.ROOT, "  %-11s %s%n", name, words.length == 0 ? "" : words[0]);
    }

    private static String heading(String words) {
        return String.format("%n%s:%n", words);
    }

    // ---- options ----

    private static String options(Help help) {
        Map<String, List<OptionSpec>> groups = new LinkedHashMap<>();
        groups.put(OWN, new ArrayList<>());
        for (OptionSpec option : help.commandSpec().options()) {
            if (!option.hidden()) {
                groups.computeIfAbsent(heading(option), _ -> new ArrayList<>()).add(option);
            }
        }
        List<OptionSpec> common = groups.getOrDefault(COMMON, List.of());
        groups.remove(COMMON);
        if (groups.size() == 1) { // nothing to tell apart
            groups.get(OWN).addAll(common);
        } else {
            groups.put(COMMON, common);
        }
        var text = new StringBuilder();
        groups.forEach((heading, options) ->
                text.append(heading.isEmpty() ? "" : heading(heading)).append(help.optionListExcludingGroups(options)));
        return text.toString();
    }

    private static String heading(OptionSpec option) {
        if (COMMON_OPTIONS.contains(option.longestName())) {
            return COMMON;
        }
        Heading heading = option.userObject() instanceof Field field
                ? field.getDeclaringClass().getAnnotation(Heading.class)
                : null;
        return heading == null ? OWN : heading.value();
    }
}
