package roselle.gotemplate.syntax;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import roselle.jinja.text.TemplateFault;

/** Reads numbers and quoted texts as Go writes them. */
final class Literals {
    /** Digits of a number. */
    private static final int LONGEST = 100;

    private final Token token;
    private final String text; // without quotes
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int at;

    private Literals(Token token) {
        this.token = token;
        text = token.text().substring(1, token.text().length() - 1);
    }

    /** A {@code Long} or a {@code Double}. */
    static Object number(Token token) {
        String digits = token.text().replace("_", "").toLowerCase(Locale.ROOT);
        try {
            if (digits.length() > LONGEST) {
                throw new NumberFormatException("too long");
            }
            return number(digits);
        } catch (NumberFormatException _) {
            throw new TemplateFault("bad number " + token.text(), token.at());
        }
    }

    private static Object number(String text) {
        String sign = text.startsWith("-") ? "-" : "";
        String digits = text.startsWith("-") || text.startsWith("+") ? text.substring(1) : text;
        boolean isHex = digits.startsWith("0x");
        boolean isReal = isHex ? digits.contains("p") : digits.contains(".") || digits.contains("e");
        if (isReal) {
            requireDigits(digits);
            return finite(Double.parseDouble(sign + digits));
        }
        int base = isHex ? 16 : digits.startsWith("0b") ? 2 : digits.startsWith("0o") ? 8 : 10;
        if (base == 10 && digits.length() > 1 && digits.matches("0[0-7]+")) {
            base = 8;
        }
        String plain = digits.startsWith("0x") || digits.startsWith("0b") || digits.startsWith("0o")
                ? digits.substring(2)
                : digits;
        requireDigits(plain);
        return exact(new BigInteger(sign + plain, base));
    }

    /** Java's suffixes of types, and signs behind signs, are no digits. */
    private static void requireDigits(String digits) {
        boolean isPlain = !digits.isEmpty() && digits.chars().allMatch(each -> each < 128);
        if (!isPlain || digits.startsWith("-") || digits.startsWith("+") || !digits.matches("(?:.*[0-9a-f])\\.?")) {
            throw new NumberFormatException(digits);
        }
        boolean isHex = digits.startsWith("0x");
        if (!isHex && digits.matches(".*[.e].*") && digits.matches(".*[df]$")) {
            throw new NumberFormatException(digits);
        }
    }

    private static Double finite(double number) {
        if (Double.isInfinite(number)) {
            throw new NumberFormatException("too large");
        }
        return number;
    }

    private static Long exact(BigInteger number) {
        if (number.bitLength() > 63) {
            throw new NumberFormatException("too large");
        }
        return number.longValue();
    }

    static String string(Token token) {
        if (token.is(Token.Kind.RAW_STRING)) {
            return token.text().substring(1, token.text().length() - 1).replace("\r", "");
        }
        var literal = new Literals(token);
        while (literal.at < literal.text.length()) {
            literal.letter('"');
        }
        return literal.bytes.toString(StandardCharsets.UTF_8);
    }

    /** The number of a character. */
    static Long character(Token token) {
        var literal = new Literals(token);
        if (literal.text.isEmpty()) {
            throw literal.bad();
        }
        int letter = literal.letter('\'');
        if (literal.at < literal.text.length()) {
            throw literal.bad();
        }
        return (long) letter;
    }

    private TemplateFault bad() {
        return new TemplateFault("bad quoting in " + token.text(), token.at());
    }

    private int letter(char quote) {
        int letter = text.codePointAt(at);
        at += Character.charCount(letter);
        if (letter != '\\') {
            write(letter);
            return letter;
        }
        if (at >= text.length()) {
            throw bad();
        }
        return escaped(text.charAt(at++), quote);
    }

    private int escaped(char kind, char quote) {
        return switch (kind) {
            case 'a' -> write(7);
            case 'b' -> write('\b');
            case 'f' -> write('\f');
            case 'n' -> write('\n');
            case 'r' -> write('\r');
            case 't' -> write('\t');
            case 'v' -> write(11);
            case '\\' -> write('\\');
            case 'x' -> octet(digits(2, 16));
            case 'u' -> write(digits(4, 16));
            case 'U' -> write(digits(8, 16));
            default -> {
                if (kind == quote) {
                    yield write(kind);
                }
                if (kind < '0' || kind > '7') {
                    throw bad();
                }
                at--;
                yield octet(digits(3, 8));
            }
        };
    }

    private int digits(int count, int base) {
        if (at + count > text.length()) {
            throw bad();
        }
        String digits = text.substring(at, at + count);
        at += count;
        if (!digits.chars().allMatch(each -> Character.digit(each, base) >= 0 && each < 128)) {
            throw bad();
        }
        return Integer.parseUnsignedInt(digits, base);
    }

    private int octet(int value) {
        if (value > 255) {
            throw bad();
        }
        bytes.write(value);
        return value;
    }

    private int write(int letter) {
        if (!Character.isValidCodePoint(letter) || (letter >= 0xD800 && letter < 0xE000)) {
            throw bad();
        }
        bytes.writeBytes(Character.toString(letter).getBytes(StandardCharsets.UTF_8));
        return letter;
    }
}
