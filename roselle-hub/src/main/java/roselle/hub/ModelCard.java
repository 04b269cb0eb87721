package roselle.hub;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import roselle.hub.text.SafeText;

/**
 * The facts at the head of a model's README.md: {@code name: value} lines between two lines of dashes.
 *
 * @param facts those of {@link #NAMES} that are there, in that order
 */
public record ModelCard(SequencedMap<String, String> facts) {
    static final List<String> NAMES =
            List.of("license", "license_name", "license_link", "base_model", "language", "pipeline_tag");
    private static final int LONGEST = 1 << 16;
    private static final String FENCE = "---";

    public ModelCard {
        facts = Collections.unmodifiableSequencedMap(facts);
    }

    /** The card in a snapshot; one without facts where there is none. */
    public static ModelCard of(Path snapshot) {
        Path file = snapshot.resolve("README.md");
        try (var in = Files.newInputStream(file)) {
            return parse(new String(in.readNBytes(LONGEST), StandardCharsets.UTF_8));
        } catch (IOException absent) {
            return new ModelCard(new LinkedHashMap<>());
        }
    }

    static ModelCard parse(String text) {
        SequencedMap<String, String> found = new LinkedHashMap<>();
        List<String> lines = text.lines().toList();
        for (int i = 1; i < lines.size() && lines.getFirst().strip().equals(FENCE); i++) {
            String line = lines.get(i);
            if (line.strip().equals(FENCE)) {
                break;
            }
            int colon = line.indexOf(':');
            if (colon > 0 && NAMES.contains(line.substring(0, colon))) {
                String value = line.substring(colon + 1).strip();
                found.put(line.substring(0, colon), value.isEmpty() ? elements(lines, i + 1) : plain(value));
            }
        }
        found.values().removeIf(String::isEmpty);
        return new ModelCard(found);
    }

    /** A list on the lines that follow, one element after a dash on each. */
    private static String elements(List<String> lines, int start) {
        return String.join(
                ", ",
                lines.subList(start, lines.size()).stream()
                        .map(String::strip)
                        .takeWhile(line -> line.startsWith("- "))
                        .map(line -> plain(line.substring(2).strip()))
                        .toList());
    }

    private static String plain(String value) {
        boolean isQuoted = value.length() > 1
                && (value.startsWith("\"") || value.startsWith("'"))
                && value.charAt(value.length() - 1) == value.charAt(0);
        return SafeText.of(isQuoted ? value.substring(1, value.length() - 1) : value);
    }
}
