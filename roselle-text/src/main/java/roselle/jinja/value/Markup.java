package roselle.jinja.value;

/**
 * Text that the template's author called safe: a string that escapes what is added to it.
 *
 * @param text the string itself
 */
public record Markup(String text) {
    public static String escape(String text) {
        var escaped = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            switch (text.charAt(i)) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&#34;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append(text.charAt(i));
            }
        }
        return escaped.toString();
    }
}
