package roselle.grammar.regex;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** Sets of code points by Unicode property, as {@code \p{…}} names them. */
final class UnicodeProperties {
    private static final Map<String, CodePoints> KNOWN = new ConcurrentHashMap<>(); // bounded: names are checked first
    private static final String[] CATEGORIES = {
        "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "", "Zs", "Zl", "Zp", "Cc", "Cf", "",
        "Co", "Cs", "Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf"
    };
    private static final Map<String, String> LONG_NAMES = Map.ofEntries(
            Map.entry("Letter", "L"),
            Map.entry("Uppercase_Letter", "Lu"),
            Map.entry("Lowercase_Letter", "Ll"),
            Map.entry("Titlecase_Letter", "Lt"),
            Map.entry("Modifier_Letter", "Lm"),
            Map.entry("Other_Letter", "Lo"),
            Map.entry("Mark", "M"),
            Map.entry("Combining_Mark", "M"),
            Map.entry("Nonspacing_Mark", "Mn"),
            Map.entry("Enclosing_Mark", "Me"),
            Map.entry("Spacing_Mark", "Mc"),
            Map.entry("Number", "N"),
            Map.entry("Decimal_Number", "Nd"),
            Map.entry("digit", "Nd"),
            Map.entry("Letter_Number", "Nl"),
            Map.entry("Other_Number", "No"),
            Map.entry("Separator", "Z"),
            Map.entry("Space_Separator", "Zs"),
            Map.entry("Other", "C"),
            Map.entry("Control", "Cc"),
            Map.entry("cntrl", "Cc"),
            Map.entry("Format", "Cf"),
            Map.entry("Punctuation", "P"),
            Map.entry("punct", "P"),
            Map.entry("Dash_Punctuation", "Pd"),
            Map.entry("Open_Punctuation", "Ps"),
            Map.entry("Close_Punctuation", "Pe"),
            Map.entry("Connector_Punctuation", "Pc"),
            Map.entry("Other_Punctuation", "Po"),
            Map.entry("Symbol", "S"),
            Map.entry("Math_Symbol", "Sm"),
            Map.entry("Currency_Symbol", "Sc"),
            Map.entry("Modifier_Symbol", "Sk"),
            Map.entry("Other_Symbol", "So"));

    private UnicodeProperties() {}

    static @Nullable CodePoints find(String name) {
        IntPredicate predicate = predicate(name);
        return predicate == null ? null : KNOWN.computeIfAbsent(name, key -> collect(predicate));
    }

    private static @Nullable IntPredicate predicate(String name) {
        int equals = name.indexOf('=');
        String value = name.substring(equals + 1);
        String property = equals < 0 ? "" : name.substring(0, equals);
        return switch (property) {
            case "", "gc", "General_Category" -> {
                IntPredicate category = category(LONG_NAMES.getOrDefault(value, value));
                yield category == null && equals < 0 ? binary(value) : category;
            }
            case "sc", "Script", "scx", "Script_Extensions" -> script(value);
            default -> null;
        };
    }

    private static @Nullable IntPredicate category(String name) {
        for (String known : CATEGORIES) {
            if (!known.isEmpty() && (known.equals(name) || known.substring(0, 1).equals(name))) {
                return codePoint -> CATEGORIES[Character.getType(codePoint)].startsWith(name);
            }
        }
        return null;
    }

    private static @Nullable IntPredicate binary(String name) {
        return switch (name) {
            case "Any" -> codePoint -> true;
            case "ASCII" -> codePoint -> codePoint < 128;
            case "Alphabetic", "Alpha" -> Character::isAlphabetic;
            case "Lowercase", "Lower" -> Character::isLowerCase;
            case "Uppercase", "Upper" -> Character::isUpperCase;
            case "White_Space", "space" ->
                codePoint -> Character.isSpaceChar(codePoint) || (codePoint >= 9 && codePoint <= 13);
            case "Ideographic", "Ideo" -> Character::isIdeographic;
            case "Emoji" -> Character::isEmoji;
            case "Emoji_Presentation" -> Character::isEmojiPresentation;
            case "ID_Start", "IDS" -> Character::isUnicodeIdentifierStart;
            default -> null;
        };
    }

    private static @Nullable IntPredicate script(String name) {
        try {
            Character.UnicodeScript script = Character.UnicodeScript.forName(name);
            return codePoint -> Character.UnicodeScript.of(codePoint) == script;
        } catch (IllegalArgumentException unknown) {
            return null;
        }
    }

    private static CodePoints collect(IntPredicate predicate) {
        int[] ranges = new int[4096];
        int size = 0;
        int from = -1;
        for (int codePoint = 0; codePoint <= CodePoints.MAX + 1; codePoint++) {
            boolean is = codePoint <= CodePoints.MAX && predicate.test(codePoint);
            if (is && from < 0) {
                from = codePoint;
            } else if (!is && from >= 0) {
                ranges[size++] = from;
                ranges[size++] = codePoint - 1;
                from = -1;
            }
        }
        return CodePoints.ofSorted(ranges, size);
    }
}
