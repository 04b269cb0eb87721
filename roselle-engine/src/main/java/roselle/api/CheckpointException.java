package roselle.api;

import java.io.Serial;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A model file that is missing, malformed or not supported; the message has the file and the field, on one line whatever
 * the file may spell.
 */
public final class CheckpointException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private static final int LONGEST = 1000; // characters

    public CheckpointException(String message) {
        super(onOneLine(message));
    }

    public CheckpointException(String message, Throwable cause) {
        super(onOneLine(message), cause);
    }

    /** A file or folder that is not there; its cause says so to those who map failures to exit codes. */
    public static CheckpointException missing(Path path) {
        return new CheckpointException(path + ": no such file or folder", new NoSuchFileException(path.toString()));
    }

    /** Names and values in a message come from files: they may not break a line, steer a terminal or fill a log. */
    private static String onOneLine(String message) {
        var line = new StringBuilder();
        int kept = Math.min(message.length(), LONGEST);
        for (int i = 0; i < kept; i++) {
            char character = message.charAt(i);
            line.append(isHarmless(character) ? character : '\uFFFD');
        }
        return line.append(kept < message.length() ? "..." : "").toString();
    }

    private static boolean isHarmless(char character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> false;
            case Character.FORMAT -> character < '\u200E'; // not those that turn the direction of writing
            default -> true;
        };
    }
}
