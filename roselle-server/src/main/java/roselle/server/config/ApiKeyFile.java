package roselle.server.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringTokenizer;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;

/**
 * A file of API keys: one a line, {@code NAME sha256:HASH} and then, where they differ from the defaults, its limits
 * {@code requests=N}, {@code tokens=N} (both a minute) and {@code concurrent=N}, and its rights {@code group=NAME} and
 * {@code role=operator}. Lines that begin with {@code #} and empty ones are skipped.
 */
public final class ApiKeyFile {
    private static final int MAX_BYTES = 4 << 20;
    private static final String SCHEME = "sha256:";
    private static final String OPERATOR = "operator";

    private final Path path;
    private final KeyLimits defaults;
    private final List<ApiKey> keys = new ArrayList<>();
    private final Set<String> taken = new HashSet<>();

    private ApiKeyFile(Path path, KeyLimits defaults) {
        this.path = path;
        this.defaults = defaults;
    }

    /**
     * The keys of a file, at least one.
     *
     * @param defaults for what a line leaves open
     * @throws InvalidRequestException if it is not such a file
     * @throws UncheckedIOException if it cannot be read
     */
    public static List<ApiKey> read(Path path, KeyLimits defaults) {
        var file = new ApiKeyFile(path, defaults);
        file.readLines(text(path));
        if (file.keys.isEmpty()) {
            throw new InvalidRequestException(path + " has no keys: make one with roselle key " + path + " NAME");
        }
        return List.copyOf(file.keys);
    }

    /** The names of the keys of a file, which may have none. */
    public static Set<String> names(Path path) {
        var file = new ApiKeyFile(path, KeyLimits.DEFAULT);
        file.readLines(text(path));
        return file.keys.stream().map(ApiKey::name).collect(Collectors.toUnmodifiableSet());
    }

    /** The line of a key. */
    public static String line(ApiKey key, KeyLimits defaults) {
        var line = new StringBuilder(key.name()).append(' ').append(SCHEME).append(key.sha256());
        KeyLimits limits = key.limits();
        if (limits.requestsPerMinute() != defaults.requestsPerMinute()) {
            line.append(" requests=").append(limits.requestsPerMinute());
        }
        if (limits.tokensPerMinute() != defaults.tokensPerMinute()) {
            line.append(" tokens=").append(limits.tokensPerMinute());
        }
        if (limits.concurrent() != defaults.concurrent()) {
            line.append(" concurrent=").append(limits.concurrent());
        }
        KeyRights rights = key.rights();
        if (!rights.group().isEmpty()) {
            line.append(" group=").append(rights.group());
        }
        if (rights.isOperator()) {
            line.append(" role=").append(OPERATOR);
        }
        return line.toString();
    }

    private static String text(Path path) {
        try (var stream = Files.newInputStream(path)) {
            byte[] bytes = stream.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new InvalidRequestException(path + " has more than " + MAX_BYTES + " bytes: it is no key file");
            }
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private void readLines(String text) {
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            String content = line.strip();
            if (!content.isEmpty() && !content.startsWith("#")) {
                add(read(content, number), number);
            }
        }
    }

    private void add(ApiKey key, int number) {
        if (!taken.add(key.name()) || !taken.add(SCHEME + key.sha256())) {
            throw refusal(number, "repeats a name or a key");
        }
        keys.add(key);
    }

    private ApiKey read(String line, int number) {
        var words = new StringTokenizer(line);
        String name = words.nextToken();
        if (!words.hasMoreTokens()) {
            throw refusal(number, "has no hash: write NAME " + SCHEME + "HASH");
        }
        String hash = words.nextToken();
        if (!hash.startsWith(SCHEME)) {
            throw refusal(
                    number, "has no hash that begins with " + SCHEME + ": keys are never written down themselves");
        }
        try {
            return read(name, hash.substring(SCHEME.length()), words, number);
        } catch (InvalidRequestException invalid) {
            throw new InvalidRequestException(at(number) + ": " + invalid.getMessage(), invalid);
        }
    }

    private ApiKey read(String name, String hash, StringTokenizer words, int number) {
        int requests = defaults.requestsPerMinute();
        long tokens = defaults.tokensPerMinute();
        int concurrent = defaults.concurrent();
        String group = "";
        boolean isOperator = false;
        while (words.hasMoreTokens()) {
            String[] parts = words.nextToken().split("=", 2);
            String value = parts.length == 2 ? parts[1] : "";
            switch (parts[0]) {
                case "requests" -> requests = (int) Math.min(Integer.MAX_VALUE, number(value, number));
                case "tokens" -> tokens = number(value, number);
                case "concurrent" -> concurrent = (int) Math.min(Integer.MAX_VALUE, number(value, number));
                case "group" -> group = given(value, number);
                case "role" -> isOperator = isOperator(value, number);
                default -> {
                    number(value, number);
                    throw refusal(
                            number,
                            "has a limit that is not requests=N, tokens=N or concurrent=N,"
                                    + " nor a right, group=NAME or role=operator");
                }
            }
        }
        return new ApiKey(name, hash, new KeyLimits(requests, tokens, concurrent), new KeyRights(group, isOperator));
    }

    private String given(String group, int number) {
        if (group.isEmpty()) {
            throw refusal(number, "has a group without a name");
        }
        return group;
    }

    private boolean isOperator(String role, int number) {
        if (!role.equals(OPERATOR)) {
            throw refusal(number, "has a role that is not " + OPERATOR);
        }
        return true;
    }

    private long number(String text, int number) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException malformed) {
            throw refusal(number, "has a limit with no number");
        }
    }

    /** What it says never quotes the line, which might hold a key. */
    private InvalidRequestException refusal(int number, String why) {
        return new InvalidRequestException(at(number) + " " + why);
    }

    private String at(int number) {
        return path + ", line " + number;
    }
}
