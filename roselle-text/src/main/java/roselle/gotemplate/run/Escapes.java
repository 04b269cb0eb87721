package roselle.gotemplate.run;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Texts as Go's templates escape them for others. */
final class Escapes {
    /** Characters that one becomes at most. */
    static final int MOST = 9;

    private Escapes() {}

    static String html(String text) {
        var out = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            switch (text.charAt(at)) {
                case '\0' -> out.append('\uFFFD');
                case '"' -> out.append("&#34;");
                case '\'' -> out.append("&#39;");
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                default -> out.append(text.charAt(at));
            }
        }
        return out.toString();
    }

    static String javaScript(String text) {
        var out = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            char letter = text.charAt(at);
            switch (letter) {
                case '\\' -> out.append("\\\\");
                case '\'' -> out.append("\\'");
                case '"' -> out.append("\\\"");
                case '<', '>', '&', '=' -> out.append(String.format("\\u%04X", (int) letter));
                default -> {
                    if (letter < ' ') {
                        out.append(String.format("\\u%04X", (int) letter));
                    } else {
                        out.append(letter);
                    }
                }
            }
        }
        return out.toString();
    }

    static String query(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("*", "%2A")
                .replace("%7E", "~");
    }
}
