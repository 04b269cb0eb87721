package roselle.gotemplate.run;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Texts as Go's templates escape them for others. */
final class Escapes {
    /** Characters that one becomes at most. */
    static final int MOST = 9;

    private static final HexFormat UPPER = HexFormat.of().withUpperCase();

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
        text.codePoints().forEach(letter -> escape(letter, out));
        return out.toString();
    }

    private static void escape(int letter, StringBuilder out) {
        if ("\\'\"".indexOf(letter) >= 0) {
            out.append('\\').append((char) letter);
        } else if ("<>&=".indexOf(letter) < 0 && (letter == ' ' || isSeen(letter))) {
            out.appendCodePoint(letter);
        } else {
            out.append("\\u").append(UPPER.toHexDigits(letter, letter < 0x10000 ? 4 : 5 + letter / 0x100000));
        }
    }

    /** As Go writes a text in its sources. */
    static String quoted(String text) {
        var out = new StringBuilder("\"");
        text.codePoints().forEach(letter -> quote(letter, out));
        return out.append('"').toString();
    }

    private static void quote(int letter, StringBuilder out) {
        int known = "\007\b\f\n\r\t\013\\\"".indexOf(letter);
        if (known >= 0) {
            out.append('\\').append("abfnrtv\\\"".charAt(known));
        } else if (letter < ' ' || letter == 0x7f) {
            out.append("\\x").append(HexFormat.of().toHexDigits((byte) letter));
        } else if (letter == ' ' || isSeen(letter)) {
            out.appendCodePoint(letter);
        } else if (letter < 0x10000) {
            out.append("\\u").append(HexFormat.of().toHexDigits((char) letter));
        } else {
            out.append("\\U").append(HexFormat.of().toHexDigits(letter));
        }
    }

    private static boolean isSeen(int letter) {
        return switch (Character.getType(letter)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.SPACE_SEPARATOR,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    static String query(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("*", "%2A")
                .replace("%7E", "~");
    }
}
