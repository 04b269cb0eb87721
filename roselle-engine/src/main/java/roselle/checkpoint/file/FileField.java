package roselle.checkpoint.file;

import roselle.api.CheckpointException;

/**
 * One field of a file, as messages name it.
 *
 * @param file the file
 * @param offset its first byte in the file
 * @param name what the file's format calls it
 * @param subject what it belongs to, such as a tensor's name; empty where it belongs to the whole file
 */
public record FileField(String file, long offset, String name, String subject) {
    /** Longest excerpt of a hostile value or name that a message repeats. */
    private static final int EXCERPT = 160;

    public CheckpointException malformed(String value, String reason) {
        return new CheckpointException(
                file + ": at byte " + offset + ", " + described() + " is " + excerpt(value) + ": " + reason);
    }

    public CheckpointException malformed(long value, String reason) {
        return malformed(Long.toString(value), reason);
    }

    /** The field needs more bytes than there are before {@code end}. */
    CheckpointException truncated(long bytes, long end, boolean isLongest) {
        return new CheckpointException(file + ": at byte " + offset + ", " + described() + " needs " + bytes
                + " bytes: the " + (isLongest ? "longest header that is read" : "file") + " ends at byte " + end);
    }

    private String described() {
        return subject.isEmpty() ? name : name + " of " + excerpt(subject);
    }

    /** {@code text} on one line, shortened, with control characters made visible. */
    public static String excerpt(String text) {
        StringBuilder line = new StringBuilder();
        int kept = Math.min(text.length(), EXCERPT);
        for (int i = 0; i < kept; i++) {
            char c = text.charAt(i);
            line.append(Character.isISOControl(c) ? '\uFFFD' : c);
        }
        return kept < text.length() ? line.append("...").toString() : line.toString();
    }
}
