package roselle.backend;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Where a user's files lie that can be made again at any time. The launcher looks at the same places. */
public final class UserCache {
    private UserCache() {}

    /** That of this process's user; one who has no home folder has it in the current folder. */
    public static Path folder() {
        return folder(System.getenv(), System.getProperty("os.name", ""))
                .orElseGet(() -> Path.of(System.getProperty("user.home", "."), ".cache", "roselle"));
    }

    /**
     * The folder that {@code ROSELLE_CACHE} names, or the one that a system has for this.
     *
     * @param environment variables by name; a blank one counts as absent
     * @param system      its name, as the property {@code os.name} has it
     * @return empty where these variables name no home folder either
     */
    public static Optional<Path> folder(Map<String, String> environment, String system) {
        return value(environment, "ROSELLE_CACHE")
                .map(Path::of)
                .or(() -> ofSystem(environment, system.toLowerCase(Locale.ROOT)));
    }

    private static Optional<Path> ofSystem(Map<String, String> environment, String system) {
        Optional<String> home = value(environment, "HOME");
        if (system.startsWith("windows")) {
            return value(environment, "LOCALAPPDATA").map(folder -> Path.of(folder, "roselle", "cache"));
        }
        if (system.startsWith("mac")) {
            return home.map(folder -> Path.of(folder, "Library", "Caches", "roselle"));
        }
        return value(environment, "XDG_CACHE_HOME")
                .or(() -> home.map(folder -> folder + "/.cache"))
                .map(folder -> Path.of(folder, "roselle"));
    }

    private static Optional<String> value(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }
}
