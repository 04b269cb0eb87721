package roselle.cli.option;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.api.InvalidRequestException;
import roselle.hub.request.HubConfig;
import roselle.hub.request.TransferOptions;

/**
 * The hub and its cache as the environment describes them, by the names that Python's huggingface_hub reads.
 *
 * @param environment variables by name
 */
public record HubSettings(Map<String, String> environment) {
    private static final Set<String> YES = Set.of("1", "ON", "YES", "TRUE");
    private static final int LONGEST_TOKEN = 1 << 12;

    public HubConfig config(boolean isOffline) {
        return new HubConfig(
                endpoint(),
                token(),
                cache(),
                isOffline || isYes("HF_HUB_OFFLINE") || isYes("TRANSFORMERS_OFFLINE"),
                TransferOptions.DEFAULT);
    }

    /** The folder of the cache, for which nothing else has to be right. */
    public Path cache() {
        return value("HF_HUB_CACHE")
                .or(() -> value("HUGGINGFACE_HUB_CACHE"))
                .map(this::expanded)
                .orElseGet(() -> home().resolve("hub"));
    }

    private URI endpoint() {
        String text = value("HF_ENDPOINT").orElse(HubConfig.PUBLIC.toString()).strip();
        try {
            return URI.create(text);
        } catch (IllegalArgumentException malformed) {
            throw new InvalidRequestException("HF_ENDPOINT is '" + text + "', which is no address");
        }
    }

    private Path home() {
        return value("HF_HOME")
                .map(this::expanded)
                .orElseGet(() -> value("XDG_CACHE_HOME")
                        .map(Path::of)
                        .orElseGet(() -> userHome().resolve(".cache"))
                        .resolve("huggingface"));
    }

    private Optional<String> token() {
        return value("HF_TOKEN")
                .or(() -> value("HUGGING_FACE_HUB_TOKEN"))
                .or(this::storedToken)
                .map(String::strip)
                .filter(token -> !token.isEmpty());
    }

    /** What {@code hf auth login} wrote. */
    private Optional<String> storedToken() {
        Path file = value("HF_TOKEN_PATH").map(this::expanded).orElseGet(() -> home().resolve("token"));
        try (var in = Files.newInputStream(file)) {
            return Optional.of(new String(in.readNBytes(LONGEST_TOKEN), StandardCharsets.UTF_8));
        } catch (IOException absent) {
            return Optional.empty();
        }
    }

    private Path expanded(String path) {
        if (path.equals("~") || path.startsWith("~/")) {
            return userHome().resolve(path.substring(Math.min(2, path.length())));
        }
        return Path.of(path);
    }

    private Path userHome() {
        return Path.of(value("HOME").orElse(System.getProperty("user.home", ".")));
    }

    private boolean isYes(String name) {
        return value(name)
                .filter(text -> YES.contains(text.toUpperCase(Locale.ROOT)))
                .isPresent();
    }

    private Optional<String> value(String name) {
        return Optional.ofNullable(environment.get(name)).filter(text -> !text.isEmpty());
    }
}
