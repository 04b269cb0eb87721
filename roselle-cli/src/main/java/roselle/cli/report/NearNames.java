package roselle.cli.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import roselle.api.CheckpointException;
import roselle.hub.BundledModel;
import roselle.hub.request.HubName;

/** Guesses which file, model, command or option was meant by a name that nothing has. */
public final class NearNames {
    private static final int MAX_NAMES = 3;
    private static final int MAX_ENTRIES = 10_000;

    private NearNames() {}

    /** The path, or a failure that tells names like it in the same folder, where it is not there. */
    public static Path existing(Path path) {
        if (!Files.exists(path)) {
            List<String> names = near(path);
            String advice = names.isEmpty() ? hub(path) : "; did you mean " + String.join(" or ", names) + "?";
            throw new CheckpointException(
                    path + ": no such file or folder" + advice, new NoSuchFileException(path.toString()));
        }
        return path;
    }

    /** Where nothing is near, a name with one slash is rather the hub's. */
    private static String hub(Path path) {
        String text = path.toString();
        return !path.isAbsolute() && HubName.isWellFormed(text)
                ? "; the model of that name on the Hugging Face hub is " + HubName.PREFIX + text
                        + ", which is fetched when it is first used"
                : "";
    }

    private static List<String> near(Path path) {
        Path folder = path.toAbsolutePath().getParent();
        Path name = path.getFileName();
        if (folder == null || name == null) {
            return List.of();
        }
        Stream<String> bundled = path.getNameCount() == 1 && !path.isAbsolute() ? BundledModel.names() : Stream.of();
        try (Stream<Path> entries = Files.exists(folder) ? Files.list(folder) : Stream.of()) {
            Stream<String> files =
                    entries.limit(MAX_ENTRIES).map(entry -> entry.getFileName().toString());
            return of(name.toString(), Stream.concat(bundled, files));
        } catch (IOException unreadable) {
            return List.of();
        }
    }

    /** Those of the names that are spelt almost like the wanted one, the nearest first. */
    static List<String> of(String name, Stream<String> names) {
        String wanted = name.toLowerCase(Locale.ROOT);
        return names.distinct()
                .filter(each -> isNear(each.toLowerCase(Locale.ROOT), wanted))
                .sorted(Comparator.comparingInt((String each) -> distance(each.toLowerCase(Locale.ROOT), wanted))
                        .thenComparing(Comparator.naturalOrder()))
                .limit(MAX_NAMES)
                .toList();
    }

    private static boolean isNear(String each, String wanted) {
        return each.startsWith(wanted) || distance(each, wanted) <= 1 + wanted.length() / 4;
    }

    /** Letters to insert, delete or replace between two names (Levenshtein, 1966). */
    private static int distance(String one, String other) {
        var row = new int[other.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int above = row[j];
                int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(above, row[j - 1]));
                diagonal = above;
            }
        }
        return row[other.length()];
    }
}
