package roselle.gates;

import static java.util.stream.Collectors.toSet;

import com.tngtech.archunit.core.domain.JavaClass;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Names of classes in the pages that say where things are: each is that of a class, in the package that is named with it. */
final class ClassNames {
    static final List<Path> PAGES = List.of(Path.of("docs/architecture.md"), Path.of("docs/glossary.md"));

    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");

    /** A class, maybe behind its package or the end of that; capitals alone are members of enums. */
    private static final Pattern NAME =
            Pattern.compile("(?<![\\w./-])((?:[a-z]\\w*\\.)*)([A-Z]\\w*[a-z]\\w*)(?![\\w]*(?:\\.cu|\\.java|/))");

    /** Names of others, and {@code X}, the new thing. */
    private static final Set<String> NOT_OURS = Set.of("XDialect", "ServiceLoader");

    private ClassNames() {}

    /** Names that a page has and the classes have not; production and tests. */
    static List<String> unknown(SourceTree tree, Path page, Set<String> classes) {
        var unknown = new ArrayList<String>();
        var spans = CODE.matcher(tree.text(page));
        while (spans.find()) {
            var names = NAME.matcher(spans.group(1));
            while (names.find()) {
                if (!NOT_OURS.contains(names.group(2)) && !isKnown(names.group(1), names.group(2), classes)) {
                    unknown.add(page + " names " + names.group());
                }
            }
        }
        return unknown;
    }

    private static boolean isKnown(String folder, String name, Set<String> classes) {
        return classes.stream().anyMatch(known -> known.endsWith("." + folder + name));
    }

    /** The full names of all classes: those compiled, and those of tests by their files. */
    static Set<String> all(SourceTree tree) {
        Set<String> names = ProductionClasses.ALL.stream()
                .map(JavaClass::getName)
                .map(name -> "." + name.replace('$', '.'))
                .collect(toSet());
        var all = new TreeSet<>(names);
        for (Path file : tree.files(Set.of(".java"))) {
            String path = file.toString().replace('/', '.');
            all.add("." + path.substring(0, path.length() - ".java".length()));
        }
        return all;
    }
}
