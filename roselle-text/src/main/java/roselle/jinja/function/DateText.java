package roselle.jinja.function;

import java.time.LocalDateTime;
import java.time.format.TextStyle;
import java.time.temporal.ChronoField;
import java.time.temporal.IsoFields;
import java.util.Locale;
import roselle.jinja.text.Text;
import roselle.jinja.value.Rendering;

/** Dates as C's {@code strftime} writes them in the C locale. */
final class DateText {
    private static final int DEPTH = 1;

    private final Rendering rendering;
    private final LocalDateTime time;

    private DateText(Rendering rendering) {
        this.rendering = rendering;
        time = rendering.now();
    }

    static String format(Rendering rendering, String pattern) {
        return new DateText(rendering).expand(pattern, DEPTH);
    }

    private String expand(String pattern, int depth) {
        var text = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            if (pattern.charAt(i) != '%' || i + 1 == pattern.length()) {
                text.append(pattern.charAt(i));
                continue;
            }
            char flag = "-_0^#".indexOf(pattern.charAt(i + 1)) >= 0 ? pattern.charAt(++i) : 0;
            char directive = i + 1 < pattern.length() ? pattern.charAt(++i) : 0;
            String composed = depth > 0 ? composition(directive) : "";
            text.append(composed.isEmpty() ? flagged(directive, flag) : expand(composed, depth - 1));
            rendering.charge(16);
        }
        rendering.chargeText(text.length());
        return text.toString();
    }

    private static String composition(char directive) {
        return switch (directive) {
            case 'D', 'x' -> "%m/%d/%y";
            case 'F' -> "%Y-%m-%d";
            case 'T', 'X' -> "%H:%M:%S";
            case 'R' -> "%H:%M";
            case 'r' -> "%I:%M:%S %p";
            case 'c' -> "%a %b %e %H:%M:%S %Y";
            default -> "";
        };
    }

    private String flagged(char directive, char flag) {
        String plain = directive(directive);
        return switch (flag) {
            case '-' -> stripped(plain);
            case '_' -> " ".repeat(plain.length() - stripped(plain).length()) + stripped(plain);
            case '0' -> plain.replace(' ', '0');
            case '^' -> Text.upper(plain);
            case '#' -> directive == 'p' ? Text.lower(plain) : Text.upper(plain);
            default -> plain;
        };
    }

    /** A number without the zeros or spaces that fill it up. */
    private static String stripped(String number) {
        int start = 0;
        while (start < number.length() - 1 && (number.charAt(start) == '0' || number.charAt(start) == ' ')) {
            start++;
        }
        return number.substring(start);
    }

    private String directive(char directive) {
        return switch (directive) {
            case 'Y' -> String.valueOf(time.getYear());
            case 'C' -> number(time.getYear() / 100, 2);
            case 'y' -> number(time.getYear() % 100, 2);
            case 'G' -> String.valueOf(time.get(IsoFields.WEEK_BASED_YEAR));
            case 'g' -> number(time.get(IsoFields.WEEK_BASED_YEAR) % 100, 2);
            case 'm' -> number(time.getMonthValue(), 2);
            case 'B' -> time.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
            case 'b', 'h' ->
                time.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH).substring(0, 3);
            case 'd' -> number(time.getDayOfMonth(), 2);
            case 'e' -> padded(time.getDayOfMonth());
            case 'j' -> number(time.getDayOfYear(), 3);
            case 'A' -> time.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
            case 'a' ->
                time.getDayOfWeek()
                        .getDisplayName(TextStyle.FULL, Locale.ENGLISH)
                        .substring(0, 3);
            case 'u' -> String.valueOf(time.getDayOfWeek().getValue());
            case 'w' -> String.valueOf(time.getDayOfWeek().getValue() % 7);
            case 'U' -> number((time.getDayOfYear() + 6 - time.getDayOfWeek().getValue() % 7) / 7, 2);
            case 'W' -> number((time.getDayOfYear() + 6 - (time.getDayOfWeek().getValue() + 6) % 7) / 7, 2);
            case 'V' -> number(time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), 2);
            default -> clock(directive);
        };
    }

    private String clock(char directive) {
        return switch (directive) {
            case 'H' -> number(time.getHour(), 2);
            case 'k' -> padded(time.getHour());
            case 'I' -> number(time.get(ChronoField.CLOCK_HOUR_OF_AMPM), 2);
            case 'l' -> padded(time.get(ChronoField.CLOCK_HOUR_OF_AMPM));
            case 'M' -> number(time.getMinute(), 2);
            case 'S' -> number(time.getSecond(), 2);
            case 'f' -> number(time.getNano() / 1000, 6);
            case 'p' -> time.getHour() < 12 ? "AM" : "PM";
            case 'P' -> time.getHour() < 12 ? "am" : "pm";
            // The time has no zone, as Python's datetime.now() has none.
            case 'z', 'Z' -> "";
            case 'n' -> "\n";
            case 't' -> "\t";
            case '%' -> "%";
            case 0 -> "%";
            default -> "%" + directive;
        };
    }

    private static String number(int value, int digits) {
        String text = String.valueOf(value);
        return "0".repeat(Math.max(0, digits - text.length())) + text;
    }

    private static String padded(int value) {
        return value < 10 ? " " + value : String.valueOf(value);
    }
}
