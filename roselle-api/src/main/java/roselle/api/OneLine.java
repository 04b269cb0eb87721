package roselle.api;

/** A message as one short line: what it quotes may not break the line, steer a terminal or fill a log. */
final class OneLine {
    private static final int LONGEST = 1000; // characters

    private OneLine() {}

    /** The message with spaces for line breaks and tabs, U+FFFD for other controls, cut where it is too long. */
    static String of(String message) {
        var line = new StringBuilder();
        int kept = Math.min(message.length(), LONGEST);
        for (int i = 0; i < kept; i++) {
            line.append(harmless(message.charAt(i)));
        }
        return line.append(kept < message.length() ? "..." : "").toString();
    }

    private static char harmless(char character) {
        if (character == '\n' || character == '\t') {
            return ' ';
        }
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> '\uFFFD';
            case Character.FORMAT -> character < '\u200E' ? character : '\uFFFD'; // those that turn the direction
            default -> character;
        };
    }
}
