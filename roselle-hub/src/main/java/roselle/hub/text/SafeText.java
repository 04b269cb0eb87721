package roselle.hub.text;

/** Shows what a stranger wrote in a sentence of ours: no control characters, and not all of it. */
public final class SafeText {
    private static final int LONGEST = 120;

    private SafeText() {}

    public static String of(String text) {
        var shown = new StringBuilder();
        text.codePoints().limit(LONGEST).forEach(point -> shown.appendCodePoint(isPlain(point) ? point : '?'));
        return text.length() > shown.length() ? shown + "…" : shown.toString();
    }

    private static boolean isPlain(int point) {
        return !Character.isISOControl(point) && Character.getType(point) != Character.FORMAT;
    }
}
