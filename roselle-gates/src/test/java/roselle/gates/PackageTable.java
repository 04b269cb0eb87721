package roselle.gates;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The package table of docs/architecture.md says what each package-info says. */
final class PackageTable {
    static final Path DOCUMENT = Path.of("docs/architecture.md");

    /** A row: {@code | layer | `package` | purpose |}, the package with a star when it is exported. */
    private static final Pattern ROW = Pattern.compile("\\| *[^|]* *\\| *`([a-z0-9.]+)` *\\*? *\\| *(.+?) *\\|");

    private static final Pattern COMMENT =
            Pattern.compile("(?s)/\\*\\*(.*?)\\*/\\s*(@\\w+\\s+)*package\\s+roselle\\.([a-z0-9.]+);");
    private static final Pattern FIRST_SENTENCE = Pattern.compile("(?s)^(.*?\\.)(?:\\s|$).*");

    private PackageTable() {}

    /** One line per package whose row is missing, superfluous or different, with the row to write. */
    static List<String> violations(SourceTree tree) {
        Map<String, String> rows = rows(tree);
        Map<String, String> sentences = sentences(tree);
        var violations = new ArrayList<String>();
        sentences.forEach((name, sentence) -> {
            if (!sentence.equals(rows.get(name))) {
                violations.add(
                        "%s: the row of %s must read: | layer | `%s` | %s |".formatted(DOCUMENT, name, name, sentence));
            }
        });
        rows.keySet().stream()
                .filter(name -> !sentences.containsKey(name))
                .forEach(name -> violations.add(DOCUMENT + ": " + name + " has a row but no package-info.java"));
        return violations;
    }

    /** Folders of production code without a package-info, or with one that does not forbid null. */
    static List<String> undescribed(SourceTree tree) {
        Set<Path> described = Set.copyOf(packageInfos(tree).stream()
                .filter(file -> tree.text(file).contains("@NullMarked"))
                .map(Path::getParent)
                .toList());
        return tree.files(Set.of(".java")).stream()
                .filter(file -> file.toString().contains("src/main/java/roselle/"))
                .map(Path::getParent)
                .filter(folder -> !described.contains(folder))
                .distinct()
                .map(folder -> folder + ": package-info.java with a sentence and @NullMarked is missing")
                .toList();
    }

    private static Map<String, String> rows(SourceTree tree) {
        var rows = new TreeMap<String, String>();
        for (String line : tree.lines(DOCUMENT)) {
            var row = ROW.matcher(line);
            if (row.matches()) {
                rows.put(row.group(1), row.group(2).replace("`", ""));
            }
        }
        return rows;
    }

    private static Map<String, String> sentences(SourceTree tree) {
        var sentences = new TreeMap<String, String>();
        for (Path file : packageInfos(tree)) {
            var comment = COMMENT.matcher(tree.text(file));
            sentences.put(
                    comment.find() ? comment.group(3) : file.toString(),
                    comment.hasMatch() ? firstSentence(comment.group(1)) : "(a comment before the package)");
        }
        return sentences;
    }

    private static String firstSentence(String comment) {
        String plain = comment.replaceAll("(?m)^\\s*\\* ?", "")
                .replaceAll("\\{@(?:code|link|linkplain) ([^}]*)\\}", "$1")
                .replaceAll("\\s+", " ")
                .strip();
        return FIRST_SENTENCE.matcher(plain).replaceFirst("$1");
    }

    private static List<Path> packageInfos(SourceTree tree) {
        return tree.files(Set.of("package-info.java")).stream()
                .filter(file -> file.toString().contains("src/main/"))
                .toList();
    }
}
