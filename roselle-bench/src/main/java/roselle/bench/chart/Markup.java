package roselle.bench.chart;

/** Text within XML and HTML. */
public final class Markup {
    private Markup() {}

    /** The text with every character that means something written as an entity. */
    public static String escaped(String text) {
        var escaped = new StringBuilder();
        text.codePoints().forEach(character -> {
            switch (character) {
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '&' -> escaped.append("&amp;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.appendCodePoint(character < ' ' && character != '\n' ? ' ' : character);
            }
        });
        return escaped.toString();
    }
}
