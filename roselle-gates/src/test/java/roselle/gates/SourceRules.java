package roselle.gates;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Rules that read the files as text; each answers with one line per violation. */
final class SourceRules {
    static final int MAX_LINES = 600;
    private static final Set<String> COUNTED = Set.of(".java", ".cu", ".cuh", ".js", ".mjs");
    private static final Set<String> CODE =
            Set.of(".java", ".cu", ".cuh", ".js", ".mjs", ".py", ".sh", ".xml", ".md", "roselle", "mvnw", ".ci/run");
    private static final Set<String> BINARY =
            Set.of(".safetensors", ".gguf", ".bin", ".png", ".ico", ".model", ".gz", ".woff2");

    /** Builds name packages, never the host that serves them: a mirror or a proxy must be able to stand in. */
    private static final Pattern REGISTRY = Pattern.compile(
            "repo1?\\.maven\\.(?:org|apache\\.org)|(?:central\\.)?sonatype\\.(?:org|com)|pypi\\.org|pythonhosted\\.org"
                    + "|registry\\.npmjs\\.org|unpkg\\.com|jsdelivr\\.net|crates\\.io|deb\\.debian\\.org"
                    + "|archive\\.ubuntu\\.com|plugins\\.gradle\\.org");

    /** A path below a person's or a worker's folder means something on one machine only. */
    private static final Pattern MACHINE_PATH =
            Pattern.compile("(?<![\\w.~$}*-])/(?:work|root|home/[a-z]\\w*|Users/\\w+)/|\\b[A-Z]:\\\\+Users\\\\");

    private static final Pattern BARE_TODO = Pattern.compile("\\b(?:T[O]DO|F[I]XME|X[X]X)\\b(?!`|: \\S+(?: \\S+){3})");

    /** What only clients of one API understand: its error codes, its headers, the kinds of its objects. */
    private static final Pattern API_WORD =
            Pattern.compile("invalid_request_error|\\bserver_error|context_length_exceeded|missing_required_parameter"
                    + "|unknown_parameter|invalid_(?:type|value|api_key)|rate_limit_exceeded|x-ratelimit|\\[DONE]"
                    + "|(?:model|response)_not_found|request_too_large|unsupported_media_type|internal_error"
                    + "|chat\\.completion|text_completion|(?:overloaded|api|not_found|permission)_error|anthropic-");

    private static final Path SERVER = Path.of("roselle-server/src/main/java/roselle/server");

    private SourceRules() {}

    /** Libraries of others, kept as they are. */
    private static final Path VENDORED = Path.of("roselle-server/src/main/web/vendor");

    static List<String> tooLong(SourceTree tree) {
        return ours(tree, COUNTED).stream()
                .filter(file -> tree.lines(file).size() > MAX_LINES)
                .map(file -> file + " has " + tree.lines(file).size() + " lines: at most " + MAX_LINES
                        + ", split it by what it does")
                .toList();
    }

    private static List<Path> ours(SourceTree tree, Set<String> endings) {
        return tree.files(endings).stream()
                .filter(file -> !file.startsWith(VENDORED))
                .toList();
    }

    static List<String> registryHosts(SourceTree tree) {
        return matches(tree, textFiles(tree), REGISTRY, "names the host of a package registry");
    }

    static List<String> machinePaths(SourceTree tree) {
        return matches(tree, textFiles(tree), MACHINE_PATH, "has a path of one machine");
    }

    static List<String> bareTodos(SourceTree tree) {
        return matches(tree, ours(tree, CODE), BARE_TODO, "has a mark without what is to be done and why");
    }

    static List<String> wordsOfApis(SourceTree tree) {
        List<Path> neutral = tree.files(Set.of(".java")).stream()
                .filter(file -> file.startsWith(SERVER))
                .filter(file ->
                        !Layers.APIS.contains(SERVER.relativize(file).getName(0).toString()))
                .toList();
        return matches(tree, neutral, API_WORD, "has a word of one API, which its dialect alone may say");
    }

    private static List<Path> textFiles(SourceTree tree) {
        return tree.files().stream()
                .filter(file -> BINARY.stream().noneMatch(file.toString()::endsWith))
                .toList();
    }

    private static List<String> matches(SourceTree tree, List<Path> files, Pattern pattern, String complaint) {
        var violations = new ArrayList<String>();
        for (Path file : files) {
            List<String> lines = tree.lines(file);
            for (int line = 0; line < lines.size(); line++) {
                var matcher = pattern.matcher(lines.get(line));
                if (matcher.find()) {
                    violations.add(file + ":" + (line + 1) + " " + complaint + ": " + matcher.group());
                }
            }
        }
        return violations;
    }
}
