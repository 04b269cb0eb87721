package roselle.checkpoint;

import roselle.api.CheckpointException;

/**
 * One field of a file, as messages name it.
 *
 * @param file the file
 * @param offset its first byte in the file
 * @param name what the file's format calls it
 */
record FileField(String file, long offset, String name) {
    /** Longest excerpt of a hostile value or name that a message repeats. */
    private static final int EXCERPT = 160;

    CheckpointException malformed(String value, String reason) {
        return new CheckpointException(
                file + ": at byte " + offset + ", " + excerpt(name) + " is " + excerpt(value) + ": " + reason);
    }

    CheckpointException malformed(long value, String reason) {
        return malformed(Long.toString(value), reason);
    }

    /** {@code text} on one line, shortened, with control characters made visible. */
    static String excerpt(String text) {
        StringBuilder line = new StringBuilder();
        int kept = Math.min(text.length(), EXCERPT);
        for (int i = 0; i < kept; i++) {
            char c = text.charAt(i);
            line.append(Character.isISOControl(c) ? '\uFFFD' : c);
        }
        return kept < text.length() ? line.append("...").toString() : line.toString();
    }
}
