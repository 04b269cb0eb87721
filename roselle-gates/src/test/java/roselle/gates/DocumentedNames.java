package roselle.gates;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Classes that documents name with their package are there. */
final class DocumentedNames {
    /** {@code kvcache.PrefixTree} between backticks, maybe with {@code roselle.} before it and members behind it. */
    private static final Pattern NAME = Pattern.compile("(?<![\\w./-])(?:roselle\\.)?((?:[a-z]+\\.)+[A-Z]\\w*)");

    private static final Pattern QUOTED = Pattern.compile("`([^`]+)`");
    private static final String SOURCES = "/java/roselle/";

    private DocumentedNames() {}

    /** One line for each name of a class that is not there; what changed once may name what was there then. */
    static List<String> violations(SourceTree tree) {
        Set<String> classes = classes(tree);
        Set<String> tops = new HashSet<>();
        classes.forEach(name -> tops.add(name.substring(0, name.indexOf('.'))));
        var violations = new ArrayList<String>();
        for (Path file : tree.files(Set.of(".md"))) {
            if (file.endsWith("CHANGELOG.md")) {
                continue;
            }
            int number = 0;
            for (String line : tree.lines(file)) {
                number++;
                for (String name : named(line)) {
                    if (tops.contains(name.substring(0, name.indexOf('.'))) && !classes.contains(name)) {
                        violations.add(file + ":" + number + ": there is no class roselle." + name);
                    }
                }
            }
        }
        return violations;
    }

    private static List<String> named(String line) {
        var names = new ArrayList<String>();
        var quoted = QUOTED.matcher(line);
        while (quoted.find()) {
            var name = NAME.matcher(quoted.group(1));
            while (name.find()) {
                names.add(name.group(1));
            }
        }
        return names;
    }

    /** Such as {@code kvcache.PrefixTree}, tests' too. */
    private static Set<String> classes(SourceTree tree) {
        var classes = new HashSet<String>();
        for (Path file : tree.files(Set.of(".java"))) {
            String path = file.toString().replace('\\', '/');
            int start = path.indexOf(SOURCES);
            String name = path.substring(Math.max(0, start + SOURCES.length()), path.length() - ".java".length());
            if (start >= 0 && name.indexOf('/') > 0) {
                classes.add(name.replace('/', '.'));
            }
        }
        return classes;
    }
}
