package roselle.cli;

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
import picocli.CommandLine;
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
            "headers",
            "skip");
    private static final String START_SECONDS = "600";

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

    /** Fills an object with options, each by its name, from a section; false where the section is not there. */
    boolean fill(String section, Object options) {
        Optional<Yaml> found = top.field(section);
        var words = new ArrayList<String>();
        found.ifPresent(yaml -> words(yaml, section, words));
        try {
            new CommandLine(options).parseArgs(words.toArray(String[]::new));
        } catch (CommandLine.ParameterException wrong) {
            throw new InvalidRequestException(path + ", " + section + ": " + wrong.getMessage(), wrong);
        }
        return found.isPresent();
    }

    private void words(Yaml section, String name, List<String> words) {
        checked(() -> {
            if (section instanceof Yaml.Text text && text.value().isEmpty()) {
                return; // all defaults
            }
            section.asFields(name).values().forEach((key, value) -> words.add(option(key, value)));
        });
    }

    private static String option(String key, Yaml value) {
        List<String> items =
                value.asItems(key).stream().map(each -> each.asText(key)).toList();
        String joined = String.join(",", items);
        return switch (joined) {
            case "true" -> "--" + key;
            case "false" -> "--no-" + key;
            default -> "--" + key + "=" + joined;
        };
    }

    /** The engines in the order of the file. */
    List<Entry> backends() {
        var entries = new ArrayList<Entry>();
        checked(() -> {
            Yaml list = top.field("backends")
                    .orElseThrow(() -> new InvalidRequestException("line 1: backends is missing: a list of engines"));
            for (Yaml item : list.asItems("backends")) {
                entries.add(entry(item));
            }
        });
        if (entries.isEmpty()
                || entries.stream()
                                .map(entry -> entry.backend().name())
                                .distinct()
                                .count()
                        < entries.size()) {
            throw new InvalidRequestException(path + ": backends has none, or two of the same name");
        }
        return entries;
    }

    private Entry entry(Yaml item) {
        Fields fields = item instanceof Yaml.Text text
                ? new Fields(text.line(), Map.of("profile", text))
                : item.asFields("a backend").allowing(BACKEND);
        String label = fields.text("profile")
                .orElseThrow(() -> new InvalidRequestException(
                        "line " + fields.line() + ": a backend has no profile: those are " + Profile.labels()));
        Profile profile = profile(Profile.of(label), fields);
        var backend = new NamedBackend(
                fields.text("name").orElse(label),
                profile,
                fields.text("url").map(URI::create),
                fields.text("served-model").or(() -> top.text("served-model")).orElse("bench"),
                map(fields, "headers"),
                settings(fields));
        return new Entry(backend, Set.copyOf(list(fields, "skip")));
    }

    private static Profile profile(Profile known, Fields fields) {
        List<String> command = list(fields, "command");
        RequestShape shape = known.shape();
        boolean takesIds =
                fields.text("prompts").map(text -> text.equals("ids")).orElse(shape.takesIds());
        return new Profile(
                known.label(),
                command.isEmpty() ? known.command() : command,
                command.isEmpty() ? known.withoutPrefixCache() : List.of(),
                fields.text("health").orElse(known.healthPath()),
                shape.withPrompts(takesIds),
                known.note());
    }

    private NamedBackend.Settings settings(Fields fields) {
        return new NamedBackend.Settings(
                fields.text("model").or(() -> top.text("model")).map(Path::of),
                fields.text("python").orElse("python3"),
                list(fields, "flags"),
                map(fields, "environment"),
                fields.text("prefix-cache").map(Boolean::parseBoolean).orElse(false),
                Duration.ofSeconds(Long.parseLong(fields.text("timeout").orElse(START_SECONDS))));
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
        } catch (NumberFormatException wrong) {
            throw new InvalidRequestException(path + ": a timeout is no number of seconds", wrong);
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException(path + ", " + wrong.getMessage(), wrong);
        } catch (IllegalArgumentException wrong) {
            throw new InvalidRequestException(path + ": " + wrong.getMessage(), wrong);
        }
    }
}
