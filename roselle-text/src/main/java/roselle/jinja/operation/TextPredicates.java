package roselle.jinja.operation;

import java.util.Map;
import java.util.function.IntPredicate;
import roselle.jinja.text.Text;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.PythonText;

/** The methods of Python's str that ask what a string consists of. */
public final class TextPredicates {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .positional("isspace", "", all(Text::isSpace))
            .positional("isalpha", "", all(Character::isLetter))
            .positional("isdecimal", "", all(Character::isDigit))
            .positional("isdigit", "", all(TextPredicates::isDigit))
            .positional("isnumeric", "", all(TextPredicates::isNumeric))
            .positional("isalnum", "", all(codePoint -> Character.isLetter(codePoint) || isNumeric(codePoint)))
            .positional(
                    "isascii", "", Builtin.onText((_, text, _) -> text.chars().allMatch(unit -> unit < 128)))
            .positional(
                    "isprintable",
                    "",
                    Builtin.onText((_, text, _) -> text.codePoints().allMatch(PythonText::isPrintable)))
            .positional("isupper", "", Builtin.onText((_, text, _) -> isUpper(text)))
            .positional("islower", "", Builtin.onText((_, text, _) -> isLower(text)))
            .positional("istitle", "", Builtin.onText((_, text, _) -> isTitle(text)))
            .positional("isidentifier", "", Builtin.onText((_, text, _) -> isIdentifier(text)))
            .build();

    private TextPredicates() {}

    public static boolean isUpper(String text) {
        return text.codePoints().anyMatch(TextPredicates::isCased)
                && text.codePoints().noneMatch(codePoint -> isCased(codePoint) && !Character.isUpperCase(codePoint));
    }

    public static boolean isLower(String text) {
        return text.codePoints().anyMatch(TextPredicates::isCased)
                && text.codePoints().noneMatch(codePoint -> isCased(codePoint) && !Character.isLowerCase(codePoint));
    }

    static boolean isCased(int codePoint) {
        return Character.isUpperCase(codePoint) || Character.isLowerCase(codePoint) || Character.isTitleCase(codePoint);
    }

    static boolean isIdentifier(String text) {
        if (text.isEmpty() || !isIdentifierStart(text.codePointAt(0))) {
            return false;
        }
        return text.codePoints().allMatch(TextPredicates::isIdentifierPart);
    }

    public static boolean isIdentifierStart(int codePoint) {
        return codePoint == '_' || Character.isUnicodeIdentifierStart(codePoint);
    }

    public static boolean isIdentifierPart(int codePoint) {
        return codePoint == '_'
                || (Character.isUnicodeIdentifierPart(codePoint) && !Character.isIdentifierIgnorable(codePoint));
    }

    private static Builtin.Body all(IntPredicate predicate) {
        return Builtin.onText(
                (_, text, _) -> !text.isEmpty() && text.codePoints().allMatch(predicate));
    }

    /** Decimal digits, and those in circles, brackets or above the line. */
    private static boolean isDigit(int codePoint) {
        boolean special = codePoint == 0xb2
                || codePoint == 0xb3
                || codePoint == 0xb9
                || codePoint == 0x2070
                || (codePoint >= 0x2074 && codePoint <= 0x2079)
                || (codePoint >= 0x2080 && codePoint <= 0x2089)
                || (codePoint >= 0x2460 && codePoint <= 0x2468)
                || (codePoint >= 0x2474 && codePoint <= 0x247c)
                || (codePoint >= 0x2488 && codePoint <= 0x2490)
                || (codePoint >= 0x2776 && codePoint <= 0x277e);
        return special || Character.isDigit(codePoint);
    }

    private static boolean isNumeric(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> true;
            default -> "一二三四五六七八九十百千万億兆零〇".indexOf(codePoint) >= 0;
        };
    }

    private static boolean isTitle(String text) {
        boolean inWord = false;
        boolean found = false;
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            i += Character.charCount(codePoint);
            boolean upper = Character.isUpperCase(codePoint) || Character.isTitleCase(codePoint);
            if ((upper && inWord) || (Character.isLowerCase(codePoint) && !inWord)) {
                return false;
            }
            inWord = isCased(codePoint);
            found |= inWord;
        }
        return found;
    }
}
