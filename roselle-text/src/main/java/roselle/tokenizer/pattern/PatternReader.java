package roselle.tokenizer.pattern;

import roselle.api.CheckpointException;

/** A place in a pattern's text; names the pattern in every refusal. */
final class PatternReader {
    private final String pattern;
    private int at;
    private int previous = -1;

    PatternReader(String pattern) {
        this.pattern = pattern;
    }

    boolean atEnd() {
        return at == pattern.length();
    }

    /** The next code point, not taken; -1 at the end. */
    int peek() {
        return atEnd() ? -1 : pattern.codePointAt(at);
    }

    /** Whether the pattern goes on with {@code text}. */
    boolean sees(String text) {
        return pattern.startsWith(text, at);
    }

    /** Takes the next code point; an end here is refused. */
    int next() {
        if (atEnd()) {
            throw refusal("it ends too early");
        }
        previous = pattern.codePointAt(at);
        at += Character.charCount(previous);
        return previous;
    }

    /** The code point taken last. */
    int previous() {
        return previous;
    }

    boolean take(char expected) {
        if (peek() == expected) {
            next();
            return true;
        }
        return false;
    }

    /** Takes everything before {@code end}, and {@code end}. */
    String until(char end) {
        int close = pattern.indexOf(end, at);
        if (close < 0) {
            throw refusal("a '" + end + "' is missing");
        }
        String text = pattern.substring(at, close);
        at = close + 1;
        return text;
    }

    /**
     * Minimum and maximum (-1 for none) of an interval such as {@code {1,3}}; its closing brace is left to be taken. Empty
     * and nothing taken if what begins here is a plain brace.
     */
    int[] interval() {
        int close = pattern.indexOf('}', at);
        String inside = close < 0 ? "" : pattern.substring(at + 1, close);
        int comma = inside.indexOf(',');
        String low = comma < 0 ? inside : inside.substring(0, comma);
        String high = comma < 0 ? inside : inside.substring(comma + 1);
        if (!isNumber(low) || !isNumber(high) || (low.isEmpty() && high.isEmpty())) {
            return new int[0];
        }
        int minimum = low.isEmpty() ? 0 : Integer.parseInt(low);
        int maximum = high.isEmpty() ? -1 : Integer.parseInt(high);
        if (maximum >= 0 && maximum < minimum) {
            throw refusal("the interval {" + inside + "} ends before it begins");
        }
        at = close;
        return new int[] {minimum, maximum};
    }

    private static boolean isNumber(String text) {
        return text.length() <= 6 && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** The character that an escape stands for, after the backslash. */
    int escapedCharacter() {
        int c = next();
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'f' -> '\f';
            case 'v' -> 0x0B;
            case 'a' -> 0x07;
            case 'e' -> 0x1B;
            case 'x' -> take('{') ? number(until('}'), 16) : digits(2, 16);
            case 'u' -> digits(4, 16);
            case '0' -> digits(2, 8);
            default -> {
                if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '1' && c <= '9')) {
                    throw refusal("the escape \\" + (char) c + " is not supported here");
                }
                yield c;
            }
        };
    }

    private int digits(int most, int radix) {
        int value = 0;
        for (int i = 0; i < most && Character.digit(peek(), radix) >= 0 && peek() < 0x80; i++) {
            value = value * radix + Character.digit(next(), radix);
        }
        return value;
    }

    private int number(String text, int radix) {
        try {
            int value = Integer.parseInt(text.strip(), radix);
            if (Character.isValidCodePoint(value)) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            throw new CheckpointException(message("'" + text + "' is no code point"), notANumber);
        }
        throw refusal("'" + text + "' is no code point");
    }

    /** What is wrong with the pattern, as one sentence. */
    CheckpointException refusal(String why) {
        return new CheckpointException(message(why));
    }

    private String message(String why) {
        String shown = pattern.length() > 200 ? pattern.substring(0, 200) + "…" : pattern;
        return "the tokenizer's pattern '" + shown + "' can not be used: at character " + at + " " + why;
    }
}
