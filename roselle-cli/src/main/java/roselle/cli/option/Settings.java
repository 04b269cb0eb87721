package roselle.cli.option;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import roselle.cli.report.ExitCode;

/**
 * Gives every option of a command one name in three places: {@code --max-body} on the command line, {@code ROSELLE_MAX_BODY}
 * in the environment, {@code max-body} in the file of {@code --config}. The first of them that has a value wins.
 */
public final class Settings implements IDefaultValueProvider {
    private static final int MAX_BYTES = 1 << 20;
    private static final String CONFIG = "config";
    private static final Set<String> ACTIONS = Set.of("help", "version", "debug", CONFIG, "print-config");

    private final CommandLine command;
    private final Map<String, String> environment;
    private final List<String> arguments;
    private @Nullable Properties file;

    private Settings(CommandLine command, Map<String, String> environment, List<String> arguments) {
        this.command = command;
        this.environment = environment;
        this.arguments = arguments;
    }

    /** Makes a command that has {@code --config} read its options there as well. */
    public static void install(CommandLine command, Map<String, String> environment, String... arguments) {
        if (command.getCommandSpec().findOption("--" + CONFIG) != null) {
            command.setDefaultValueProvider(new Settings(command, environment, Arrays.asList(arguments)));
        }
    }

    @Override
    public @Nullable String defaultValue(ArgSpec argument) {
        if (!(argument instanceof OptionSpec option) || ACTIONS.contains(name(option))) {
            return null;
        }
        String value = environment.get(variable(name(option)));
        return value == null ? file().getProperty(name(option)) : value;
    }

    private static String name(OptionSpec option) {
        return option.longestName().substring(2);
    }

    private static String variable(String name) {
        return "ROSELLE_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    // ---- the file ----

    private Properties file() {
        if (file == null) {
            file = configPath().map(this::read).orElseGet(Properties::new);
        }
        return file;
    }

    /** The file's name has to be known before the command line is parsed. */
    private Optional<Path> configPath() {
        for (int index = 0; index < arguments.size(); index++) {
            String argument = arguments.get(index);
            if (argument.startsWith("--config=")) {
                return Optional.of(Path.of(argument.substring("--config=".length())));
            }
            if (argument.equals("--config") && index + 1 < arguments.size()) {
                return Optional.of(Path.of(arguments.get(index + 1)));
            }
        }
        return Optional.ofNullable(environment.get(variable(CONFIG))).map(Path::of);
    }

    private Properties read(Path path) {
        var values = new Properties();
        try (var stream = Files.newInputStream(path)) {
            byte[] bytes = stream.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new ParameterException(
                        command, path + " has more than " + MAX_BYTES + " bytes: it is no file of options");
            }
            values.load(new StringReader(new String(bytes, StandardCharsets.UTF_8)));
        } catch (IOException unreadable) {
            throw new ParameterException(
                    command, "--config cannot be read: " + ExitCode.sentence(unreadable), unreadable);
        } catch (IllegalArgumentException malformed) {
            throw new ParameterException(command, path + " cannot be read: " + malformed.getMessage(), malformed);
        }
        List<String> names = command.getCommandSpec().options().stream()
                .map(Settings::name)
                .filter(name -> !ACTIONS.contains(name))
                .toList();
        for (String name : values.stringPropertyNames()) {
            if (!names.contains(name)) {
                throw new ParameterException(
                        command, path + " has " + name + ", which is no option: those are " + String.join(", ", names));
            }
        }
        return values;
    }

    // ---- --print-config ----

    /** Every option as a line that {@code --config} reads; those without a value as a comment. */
    public static String print(CommandSpec specification) {
        var lines = new StringBuilder();
        for (OptionSpec option : specification.options()) {
            if (ACTIONS.contains(name(option))) {
                continue;
            }
            @Nullable Object value = joined(option.getValue());
            boolean isUnset = value == null || value.toString().isEmpty();
            lines.append(isUnset ? "# " + name(option) + " =" : name(option) + " = " + escaped(String.valueOf(value)))
                    .append('\n');
        }
        return lines.toString();
    }

    /** Values of an option that may be given several times are lines of one. */
    private static @Nullable Object joined(@Nullable Object value) {
        return value instanceof List<?> several
                ? several.stream().map(String::valueOf).collect(Collectors.joining("\n"))
                : value;
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\n", "\\n");
    }
}
