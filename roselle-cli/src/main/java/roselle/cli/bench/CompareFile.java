package roselle.cli.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.Profile;
import roselle.bench.backend.RequestShape;
import roselle.bench.yaml.Yaml;
import roselle.bench.yaml.Yaml.Fields;

/**
 * What {@code roselle bench compare} reads: a model, the options of {@code bench online} and {@code bench offline} by their
 * names, and the engines.
 */
final class CompareFile {
    private static final Set<String> TOP = Set.of("model", "served-model", "online", "offline", "backends");
    private static final Set<String> BACKEND = Set.of(
            "name",
            "profile",
            "url",
            "model",
            "served-model",
            "command",
            "flags",
            "environment",
            "health",
            "timeout",
            "python",
            "prompts",
            "prefix-cache",
            "gpus",
            "headers",
            "skip");
    private static final int START_SECONDS = 600;
    private static final int MAX_SECONDS = 86_400;
    private static final Set<String> PARTS = Set.of("online", "offline");

    /** An engine, and which of the two measurements it is left out of. */
    record Entry(NamedBackend backend, Set<String> skipped) {}

    private final Path path;
    private final Fields top;

    private CompareFile(Path path, Fields top) {
        this.path = path;
        this.top = top;
    }

    static CompareFile read(Path path) {
        try {
            String text = Files.readString(path, StandardCharsets.UTF_8);
            return new CompareFile(path, Yaml.parse(text).allowing(TOP));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException(path + ", " + wrong.getMessage(), wrong);
        }
    }

    Optional<Path> model() {
        return top.text("model").map(Path::of);
    }

    /**
     * Fills an object with options, each by its name, from a section; false where the section is not there.
     */
    boolean fill(String section, Object options) {
        Optional<Yaml> found = top.field(section);
        var command = new CommandLine(options);
        var words = new ArrayList<String>();
        checked(() -> found.ifPresent(yaml -> words(yaml, section, command, words)));
        parse(section, command, words);
        return found.isPresent();
    }

    private void parse(String section, CommandLine command, List<String> words) {
        try {
            command.parseArgs(words.toArray(String[]::new));
        } catch (CommandLine.ParameterException wrong) {
            throw new InvalidRequestException(path + ", " + section + ": " + wrong.getMessage(), wrong);
        }
    }

    private static void words(Yaml section, String name, CommandLine command, List<String> words) {
        if (section instanceof Yaml.Text text && text.value().isEmpty()) {
            return; // all defaults
        }
        section.asFields(name)
                .values()
                .forEach((key, value) -> option(name, key, value, command).ifPresent(words::add));
    }

    /** The word of a key and its value, if one is needed; complaints name the line. */
    private static Optional<String> option(String section, String key, Yaml value, CommandLine command) {
        OptionSpec known = command.getCommandSpec().findOption("--" + key);
        if (known == null) {
            throw at(value, key + " is not known in " + section + ": there are " + names(command));
        }
        List<String> items =
                value.asItems(key).stream().map(each -> each.asText(key)).toList();
        String joined = String.join(",", items);
        if (known.arity().max() == 0) {
            return flag(key, joined, value, known);
        }
        String word = "--" + key + "=" + joined;
        try {
            command.parseArgs(word); // alone, so that a complaint belongs to this line; all of them follow
        } catch (CommandLine.ParameterException wrong) {
            throw at(value, section + ": " + wrong.getMessage());
        }
        return Optional.of(word);
    }

    private static Optional<String> flag(String key, String text, Yaml value, OptionSpec known) {
        return switch (text) {
            case "true" -> Optional.of("--" + key);
            case "false" -> known.negatable() ? Optional.of("--no-" + key) : Optional.empty();
            default -> throw at(value, key + " is " + text + ": it must be true or false");
        };
    }

    private static String names(CommandLine command) {
        return command.getCommandSpec().options().stream()
                .map(option -> option.longestName().substring(2))
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private static InvalidRequestException at(Yaml value, String complaint) {
        return new InvalidRequestException("line " + value.line() + ": " + complaint);
    }

    /** The engines in the order of the file. */
    List<Entry> backends() {
        var entries = new ArrayList<Entry>();
        checked(() -> {
            Yaml list = top.field("backends")
                    .orElseThrow(() -> new InvalidRequestException("line 1: backends is missing: a list of engines"));
            if (list instanceof Yaml.Text text && text.value().isEmpty()) {
                throw at(list, "backends has none");
            }
            for (Yaml item : list.asItems("backends")) {
                Entry next = entry(item);
                demandNewName(entries, next, item);
                entries.add(next);
            }
        });
        if (entries.isEmpty()) {
            throw new InvalidRequestException(path + ": backends has none");
        }
        return entries;
    }

    private static void demandNewName(List<Entry> entries, Entry next, Yaml item) {
        String name = next.backend().name();
        if (entries.stream().anyMatch(entry -> entry.backend().name().equals(name))) {
            throw at(item, "there are two of the same name, " + name + ": give one another name");
        }
    }

    private Entry entry(Yaml item) {
        Fields fields = item instanceof Yaml.Text text
                ? new Fields(text.line(), Map.of("profile", text))
                : item.asFields("a backend").allowing(BACKEND);
        String label = fields.text("profile")
                .orElseThrow(() -> new InvalidRequestException(
                        "line " + fields.line() + ": a backend has no profile: those are " + Profile.labels()));
        fields.field("command").filter(_ -> fields.field("url").isPresent()).ifPresent(value -> {
            throw at(value, "there are url, for an engine that runs already, and command, to start one: leave one out");
        });
        Profile profile = profile(known(label, fields), fields);
        Optional<URI> url = fields.field("url").map(CompareFile::address);
        demandStart(profile, url, fields);
        var backend = new NamedBackend(
                fields.text("name").orElse(label),
                profile,
                url,
                fields.text("served-model").or(() -> top.text("served-model")).orElse("bench"),
                map(fields, "headers"),
                settings(fields));
        return new Entry(backend, skipped(fields));
    }

    private static void demandStart(Profile profile, Optional<URI> url, Fields fields) {
        if (url.isEmpty() && profile.command().isEmpty()) {
            throw new InvalidRequestException("line " + fields.line() + ": " + profile.label()
                    + " is not started here: give its url, or a command to start it");
        }
    }

    private static Profile known(String label, Fields fields) {
        try {
            return Profile.of(label);
        } catch (InvalidRequestException unknown) {
            throw new InvalidRequestException("line " + fields.line() + ": " + unknown.getMessage(), unknown);
        }
    }

    private static URI address(Yaml value) {
        try {
            return BackendFlags.address(value.asText("url"));
        } catch (InvalidRequestException wrong) {
            throw at(value, String.valueOf(wrong.getMessage()));
        }
    }

    private static Set<String> skipped(Fields fields) {
        List<String> parts = list(fields, "skip");
        fields.field("skip").filter(_ -> !PARTS.containsAll(parts)).ifPresent(value -> {
            throw at(value, "skip is " + String.join(", ", parts) + ": it may have online and offline");
        });
        return Set.copyOf(parts);
    }

    private static Profile profile(Profile known, Fields fields) {
        List<String> command = list(fields, "command");
        RequestShape shape = known.shape();
        boolean takesIds = fields.field("prompts").map(CompareFile::isOfIds).orElse(shape.takesIds());
        return new Profile(
                known.label(),
                command.isEmpty() ? known.command() : command,
                command.isEmpty() ? known.withoutPrefixCache() : List.of(),
                fields.field("health").map(CompareFile::healthPath).orElse(known.healthPath()),
                shape.withPrompts(takesIds),
                known.note());
    }

    private static boolean isOfIds(Yaml value) {
        return switch (value.asText("prompts")) {
            case "ids" -> true;
            case "text" -> false;
            default -> throw at(value, "prompts is " + value.asText("prompts") + ": it must be ids or text");
        };
    }

    private static String healthPath(Yaml value) {
        String text = value.asText("health");
        if (!text.startsWith("/") && !text.startsWith("http://")) {
            throw at(value, "health is " + text + ": it must be a path that begins with /, or an http:// address");
        }
        return text;
    }

    private static boolean isTrue(Yaml value, String key) {
        return switch (value.asText(key)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw at(value, key + " is " + value.asText(key) + ": it must be true or false");
        };
    }

    private static int number(Yaml value, String key, int least, int most) {
        String text = value.asText(key);
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException _) {
            // said below, with the value
        }
        throw at(value, key + " is " + text + ": it must be a whole number from " + least + " to " + most);
    }

    private NamedBackend.Settings settings(Fields fields) {
        return new NamedBackend.Settings(
                fields.text("model").or(() -> top.text("model")).map(Path::of),
                fields.text("python").orElse("python3"),
                list(fields, "flags"),
                map(fields, "environment"),
                fields.field("prefix-cache")
                        .map(value -> isTrue(value, "prefix-cache"))
                        .orElse(false),
                Duration.ofSeconds(fields.field("timeout")
                        .map(value -> number(value, "timeout", 1, MAX_SECONDS))
                        .orElse(START_SECONDS)),
                BackendFlags.gpus(fields.field("gpus").map(value -> number(value, "gpus", 0, BackendFlags.MAX_GPUS))));
    }

    /** A list of words; a single text is split at its spaces. */
    private static List<String> list(Fields fields, String key) {
        return fields.field(key)
                .map(value -> value instanceof Yaml.Text text
                        ? NamedBackend.Settings.words(text.value())
                        : value.asItems(key).stream()
                                .map(each -> each.asText(key))
                                .toList())
                .orElse(List.of());
    }

    private static Map<String, String> map(Fields fields, String key) {
        var values = new LinkedHashMap<String, String>();
        fields.field(key)
                .ifPresent(map ->
                        map.asFields(key).values().forEach((name, value) -> values.put(name, value.asText(name))));
        return values;
    }

    private void checked(Runnable reading) {
        try {
            reading.run();
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException(path + ", " + wrong.getMessage(), wrong);
        }
    }
}
