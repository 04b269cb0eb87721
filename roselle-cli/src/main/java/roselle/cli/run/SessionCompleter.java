package roselle.cli.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;

/** Completes commands, names of what can be set, and paths of files; of what is said to the model, nothing. */
final class SessionCompleter implements Completer {
    private static final int MOST_FILES = 1000;

    @Override
    public void complete(LineReader reader, ParsedLine line, List<Candidate> candidates) {
        if (line.line().startsWith("/")) {
            words(line).map(Candidate::new).forEach(candidates::add);
        }
    }

    private static Stream<String> words(ParsedLine line) {
        if (line.wordIndex() == 0) {
            return SessionCommand.words().stream();
        }
        String command = line.words().getFirst();
        if (line.wordIndex() == 1 && command.equals(SessionCommand.SET.word())) {
            return Adjustments.names().stream();
        }
        boolean isOfFile = command.equals(SessionCommand.SAVE.word()) || command.equals(SessionCommand.LOAD.word());
        return line.wordIndex() == 1 && isOfFile ? files(line.word()).stream() : Stream.of();
    }

    /** What is in the folder of a path that is being typed. */
    private static List<String> files(String typed) {
        String folder = typed.substring(0, typed.lastIndexOf('/') + 1);
        try (Stream<Path> entries = Files.list(Path.of(folder.isEmpty() ? "." : folder))) {
            return entries.limit(MOST_FILES)
                    .map(entry -> folder + entry.getFileName() + (Files.isDirectory(entry) ? "/" : ""))
                    .sorted()
                    .toList();
        } catch (IOException | InvalidPathException unreadable) {
            return List.of(); // nothing to propose
        }
    }
}
