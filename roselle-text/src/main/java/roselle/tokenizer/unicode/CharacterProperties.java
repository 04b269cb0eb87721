package roselle.tokenizer.unicode;

import java.lang.Character.UnicodeBlock;
import java.lang.Character.UnicodeScript;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;

/** Sets of characters by the names of Unicode: general categories, scripts, blocks (In...), and POSIX classes. */
public final class CharacterProperties {
    private static final Map<String, String> LONG_NAMES = Map.ofEntries(
            Map.entry("letter", "l"),
            Map.entry("uppercaseletter", "lu"),
            Map.entry("lowercaseletter", "ll"),
            Map.entry("titlecaseletter", "lt"),
            Map.entry("modifierletter", "lm"),
            Map.entry("otherletter", "lo"),
            Map.entry("mark", "m"),
            Map.entry("nonspacingmark", "mn"),
            Map.entry("spacingmark", "mc"),
            Map.entry("enclosingmark", "me"),
            Map.entry("number", "n"),
            Map.entry("decimalnumber", "nd"),
            Map.entry("letternumber", "nl"),
            Map.entry("othernumber", "no"),
            Map.entry("punctuation", "p"),
            Map.entry("connectorpunctuation", "pc"),
            Map.entry("dashpunctuation", "pd"),
            Map.entry("openpunctuation", "ps"),
            Map.entry("closepunctuation", "pe"),
            Map.entry("initialpunctuation", "pi"),
            Map.entry("finalpunctuation", "pf"),
            Map.entry("otherpunctuation", "po"),
            Map.entry("symbol", "s"),
            Map.entry("mathsymbol", "sm"),
            Map.entry("currencysymbol", "sc"),
            Map.entry("modifiersymbol", "sk"),
            Map.entry("othersymbol", "so"),
            Map.entry("separator", "z"),
            Map.entry("spaceseparator", "zs"),
            Map.entry("lineseparator", "zl"),
            Map.entry("paragraphseparator", "zp"),
            Map.entry("other", "c"),
            Map.entry("control", "cc"),
            Map.entry("format", "cf"),
            Map.entry("surrogate", "cs"),
            Map.entry("privateuse", "co"),
            Map.entry("unassigned", "cn"));

    private CharacterProperties() {}

    /** A name that is known to be there. */
    public static CharacterSet require(String name) {
        return find(name).orElseThrow(() -> new IllegalArgumentException(name));
    }

    /** The set of a name; case, spaces, hyphens and underscores in it do not matter. */
    public static Optional<CharacterSet> find(String name) {
        String key = normalized(name);
        int types = categories(LONG_NAMES.getOrDefault(key, key));
        if (types != 0) {
            return Optional.of(new CharacterSet(codePoint -> (types >>> Character.getType(codePoint) & 1) != 0));
        }
        return posix(key).or(() -> scriptOrBlock(name, key)).map(CharacterSet::new);
    }

    private static String normalized(String name) {
        var key = new StringBuilder();
        for (char c : name.toLowerCase(Locale.ROOT).toCharArray()) {
            if (c != ' ' && c != '_' && c != '-') {
                key.append(c);
            }
        }
        return key.toString();
    }

    /** Bits by {@link Character#getType}; 0 for no category. */
    private static int categories(String name) {
        return switch (name) {
            case "l" -> categories("lc") | categories("lm") | categories("lo");
            case "lc" -> categories("lu") | categories("ll") | categories("lt");
            case "lu" -> 1 << Character.UPPERCASE_LETTER;
            case "ll" -> 1 << Character.LOWERCASE_LETTER;
            case "lt" -> 1 << Character.TITLECASE_LETTER;
            case "lm" -> 1 << Character.MODIFIER_LETTER;
            case "lo" -> 1 << Character.OTHER_LETTER;
            case "m" -> categories("mn") | categories("mc") | categories("me");
            case "mn" -> 1 << Character.NON_SPACING_MARK;
            case "mc" -> 1 << Character.COMBINING_SPACING_MARK;
            case "me" -> 1 << Character.ENCLOSING_MARK;
            case "n" -> categories("nd") | categories("nl") | categories("no");
            case "nd" -> 1 << Character.DECIMAL_DIGIT_NUMBER;
            case "nl" -> 1 << Character.LETTER_NUMBER;
            case "no" -> 1 << Character.OTHER_NUMBER;
            case "p" ->
                categories("pc")
                        | categories("pd")
                        | categories("ps")
                        | categories("pe")
                        | categories("pi")
                        | categories("pf")
                        | categories("po");
            case "pc" -> 1 << Character.CONNECTOR_PUNCTUATION;
            case "pd" -> 1 << Character.DASH_PUNCTUATION;
            case "ps" -> 1 << Character.START_PUNCTUATION;
            case "pe" -> 1 << Character.END_PUNCTUATION;
            case "pi" -> 1 << Character.INITIAL_QUOTE_PUNCTUATION;
            case "pf" -> 1 << Character.FINAL_QUOTE_PUNCTUATION;
            case "po" -> 1 << Character.OTHER_PUNCTUATION;
            case "s" -> categories("sm") | categories("sc") | categories("sk") | categories("so");
            case "sm" -> 1 << Character.MATH_SYMBOL;
            case "sc" -> 1 << Character.CURRENCY_SYMBOL;
            case "sk" -> 1 << Character.MODIFIER_SYMBOL;
            case "so" -> 1 << Character.OTHER_SYMBOL;
            case "z" -> categories("zs") | categories("zl") | categories("zp");
            case "zs" -> 1 << Character.SPACE_SEPARATOR;
            case "zl" -> 1 << Character.LINE_SEPARATOR;
            case "zp" -> 1 << Character.PARAGRAPH_SEPARATOR;
            case "c" -> categories("cc") | categories("cf") | categories("cs") | categories("co") | categories("cn");
            case "cc" -> 1 << Character.CONTROL;
            case "cf" -> 1 << Character.FORMAT;
            case "cs" -> 1 << Character.SURROGATE;
            case "co" -> 1 << Character.PRIVATE_USE;
            case "cn" -> 1 << Character.UNASSIGNED;
            default -> 0;
        };
    }

    private static Optional<IntPredicate> posix(String key) {
        IntPredicate set = switch (key) {
            case "any" -> codePoint -> true;
            case "assigned" -> codePoint -> Character.getType(codePoint) != Character.UNASSIGNED;
            case "ascii" -> codePoint -> codePoint < 128;
            case "alpha", "alphabetic" -> Character::isAlphabetic;
            case "digit" -> codePoint -> Character.getType(codePoint) == Character.DECIMAL_DIGIT_NUMBER;
            case "alnum" ->
                codePoint -> Character.isAlphabetic(codePoint)
                        || Character.getType(codePoint) == Character.DECIMAL_DIGIT_NUMBER;
            case "lower", "lowercase" -> Character::isLowerCase;
            case "upper", "uppercase" -> Character::isUpperCase;
            case "space", "whitespace" -> CharacterClasses::isWhiteSpace;
            case "blank" -> codePoint -> codePoint == '\t' || Character.getType(codePoint) == Character.SPACE_SEPARATOR;
            case "cntrl" -> codePoint -> Character.getType(codePoint) == Character.CONTROL;
            case "punct" -> CharacterClasses::isPunctuation;
            case "xdigit" -> codePoint -> codePoint < 128 && Character.digit(codePoint, 16) >= 0;
            case "word" -> CharacterProperties::isOnigurumaWord;
            case "emoji" -> Character::isEmoji;
            case "emojipresentation" -> Character::isEmojiPresentation;
            case "emojimodifier" -> Character::isEmojiModifier;
            case "emojimodifierbase" -> Character::isEmojiModifierBase;
            case "emojicomponent" -> Character::isEmojiComponent;
            case "extendedpictographic" -> Character::isExtendedPictographic;
            case "ideographic" -> Character::isIdeographic;
            default -> null;
        };
        return Optional.ofNullable(set);
    }

    /** Word characters as Oniguruma's classes have them: without the joiners. */
    private static boolean isOnigurumaWord(int codePoint) {
        return codePoint != 0x200C && codePoint != 0x200D && CharacterClasses.isWord(codePoint);
    }

    private static Optional<IntPredicate> scriptOrBlock(String name, String key) {
        try {
            if (key.startsWith("in")) {
                var block = UnicodeBlock.forName(name.strip().substring(2));
                return Optional.of(codePoint -> block.equals(UnicodeBlock.of(codePoint)));
            }
            var script = UnicodeScript.forName(name.strip());
            return Optional.of(codePoint -> UnicodeScript.of(codePoint) == script);
        } catch (IllegalArgumentException unknown) {
            return Optional.empty();
        }
    }
}
