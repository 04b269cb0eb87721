package roselle.conversation.parse;

import java.util.BitSet;
import java.util.List;
import java.util.regex.Pattern;
import roselle.conversation.parse.CallReader.Result;
import roselle.conversation.parse.JsonText.Out;

/**
 * Reads one value and writes it as JSON, a character behind what it reads at most: JSON as it is, and what models write instead,
 * such as apostrophes, {@code True} and {@code None}, line breaks in texts, tuples. Its work is the same for each character.
 *
 * <p>With marks instead of quotation marks (Gemma's {@code <|"|>}) keys are bare words, and texts have no escapes.
 */
final class ValueReader {
    private static final int MAX_DEPTH = 256;
    private static final int MAX_NUMBER = 160; // constraints allow 135
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    private enum State {
        VALUE,
        VALUE_OR_END,
        KEY,
        BARE_KEY,
        COLON,
        AFTER,
        TEXT,
        ESCAPE,
        CODE,
        MARK,
        MARKED,
        WORD
    }

    private final String mark;
    private final Out out;
    private final MarkFinder finder;
    private final StringBuilder word = new StringBuilder();
    private final BitSet objects = new BitSet(); // whether the value open at a depth is one
    private int depth;
    private State state = State.VALUE;
    private boolean isKey;
    private char quote;
    private int code;
    private int codeDigits;
    private int search;
    private boolean hasComma; // read, and written with the next value alone: none may follow
    private final StringBuilder gap = new StringBuilder(); // behind it

    /** @param mark instead of quotation marks; empty for JSON */
    ValueReader(String mark, Out out) {
        this.mark = mark;
        this.out = out;
        finder = new MarkFinder(mark.isEmpty() ? List.of() : List.of(mark));
    }

    /** Takes one more character; the value is read with {@code DONE}, or before the character with {@code DONE_BEFORE}. */
    Result accept(char letter) {
        return switch (state) {
            case VALUE, VALUE_OR_END -> value(letter);
            case KEY -> key(letter);
            case BARE_KEY -> bareKey(letter);
            case COLON -> colon(letter);
            case AFTER -> after(letter);
            case TEXT -> text(letter);
            case ESCAPE -> escaped(letter);
            case CODE -> code(letter);
            case MARK -> mark(letter);
            case MARKED -> marked(letter);
            case WORD -> word(letter);
        };
    }

    /** Whether the value is complete now that nothing follows: a number is, where it could go on. */
    boolean finish() {
        return state == State.WORD && depth == 0 && writeWord();
    }

    /** What was taken and not written, because it may have been something else. */
    String unwritten() {
        return word.toString();
    }

    private Result value(char letter) {
        if (JsonText.isSpace(letter)) {
            return space(letter);
        }
        if (state == State.VALUE_OR_END && isEnd(letter)) {
            return close();
        }
        writeComma();
        switch (letter) {
            case '{' -> {
                return open(true, '{', State.KEY);
            }
            case '[', '(' -> {
                return open(false, '[', State.VALUE_OR_END);
            }
            case '"', '\'' -> {
                return mark.isEmpty() ? begin(letter, false) : failed();
            }
            default -> {}
        }
        if (!mark.isEmpty() && letter == mark.charAt(0)) {
            isKey = false;
            return beginMark(letter);
        }
        if (!isWordLetter(letter)) {
            return failed();
        }
        word.append(letter);
        state = State.WORD;
        return Result.MORE;
    }

    private Result open(boolean isObject, char bracket, State next) {
        if (depth == MAX_DEPTH) {
            return failed();
        }
        objects.set(depth++, isObject);
        out.put(bracket);
        state = next;
        return Result.MORE;
    }

    private boolean isEnd(char letter) {
        return depth > 0 && (objects.get(depth - 1) ? letter == '}' : letter == ']' || letter == ')');
    }

    private Result close() {
        hasComma = false;
        gap.setLength(0);
        out.put(objects.get(--depth) ? '}' : ']');
        return ended();
    }

    private Result ended() {
        state = State.AFTER;
        return depth == 0 ? Result.DONE : Result.MORE;
    }

    private Result space(char letter) {
        if (hasComma) {
            gap.append(letter);
        } else if (depth > 0) {
            out.put(letter);
        }
        return Result.MORE;
    }

    private void writeComma() {
        if (hasComma) {
            hasComma = false;
            out.put(',');
            out.putAll(gap.toString());
            gap.setLength(0);
        }
    }

    private Result key(char letter) {
        if (JsonText.isSpace(letter)) {
            return space(letter);
        }
        if (letter == '}') {
            return close();
        }
        writeComma();
        if (mark.isEmpty()) {
            return letter == '"' || letter == '\'' ? begin(letter, true) : failed();
        }
        isKey = true;
        if (letter == mark.charAt(0)) {
            return beginMark(letter);
        }
        word.append(letter);
        state = State.BARE_KEY;
        return Result.MORE;
    }

    private Result bareKey(char letter) {
        if (letter != ':') {
            word.append(letter);
            return letter == '}' || letter == '{' || isForeign(letter) ? failed() : Result.MORE;
        }
        out.putAll(JsonText.quoted(word.toString().strip()));
        word.setLength(0);
        return colon(letter);
    }

    private Result colon(char letter) {
        if (JsonText.isSpace(letter)) {
            return Result.MORE;
        }
        if (letter != ':') {
            return failed();
        }
        out.put(':');
        state = State.VALUE;
        return Result.MORE;
    }

    private Result after(char letter) {
        if (JsonText.isSpace(letter)) {
            out.put(letter);
            return Result.MORE;
        }
        if (isEnd(letter)) {
            return close();
        }
        if (letter != ',') {
            return failed();
        }
        hasComma = true;
        state = objects.get(depth - 1) ? State.KEY : State.VALUE_OR_END;
        return Result.MORE;
    }

    // ---- texts ----

    private Result begin(char quotation, boolean forKey) {
        quote = quotation;
        isKey = forKey;
        out.put('"');
        state = State.TEXT;
        return Result.MORE;
    }

    private Result text(char letter) {
        if (letter == quote) {
            return endText();
        }
        if (letter == '\\') {
            state = State.ESCAPE;
        } else if (isForeign(letter)) {
            return failed();
        } else {
            JsonText.escape(letter, out);
        }
        return Result.MORE;
    }

    private Result endText() {
        out.put('"');
        if (isKey) {
            state = State.COLON;
            return Result.MORE;
        }
        return ended();
    }

    private Result escaped(char letter) {
        state = State.TEXT;
        switch (letter) {
            case '"', '\\', '/', 'b', 'f', 'n', 'r', 't' -> {
                out.put('\\');
                out.put(letter);
            }
            case '\'' -> out.put(letter);
            case 'u', 'x' -> {
                code = 0;
                codeDigits = letter == 'u' ? 4 : 2;
                state = State.CODE;
            }
            default -> { // no escape, as in Windows' paths and regular expressions
                if (isForeign(letter)) {
                    return failed();
                }
                out.putAll("\\\\");
                JsonText.escape(letter, out);
            }
        }
        return Result.MORE;
    }

    private Result code(char letter) {
        int digit = Character.digit(letter, 16);
        if (digit < 0 || letter > 'f') {
            return failed();
        }
        code = code << 4 | digit;
        if (--codeDigits == 0) {
            out.putAll("\\u%04x".formatted(code));
            state = State.TEXT;
        }
        return Result.MORE;
    }

    // ---- texts between marks ----

    private Result beginMark(char letter) {
        search = 0;
        state = State.MARK;
        return mark(letter);
    }

    private Result mark(char letter) {
        if (letter != mark.charAt(search)) {
            return failed();
        }
        if (++search == mark.length()) {
            search = MarkFinder.START;
            word.setLength(0);
            out.put('"');
            state = State.MARKED;
        }
        return Result.MORE;
    }

    private Result marked(char letter) {
        search = finder.step(search, letter);
        word.append(letter);
        boolean isOver = finder.found(search) >= 0;
        int certain = word.length() - (isOver ? mark.length() : finder.pending(search));
        for (int position = 0; position < certain; position++) {
            JsonText.escape(word.charAt(position), out);
        }
        word.delete(0, isOver ? word.length() : certain);
        return isOver ? endText() : Result.MORE;
    }

    // ---- numbers and words ----

    private static boolean isWordLetter(char letter) {
        return (letter >= 'a' && letter <= 'z')
                || (letter >= 'A' && letter <= 'Z')
                || (letter >= '0' && letter <= '9')
                || letter == '-'
                || letter == '+'
                || letter == '.'
                || letter == '_';
    }

    private Result word(char letter) {
        if (isWordLetter(letter)) {
            word.append(letter);
            return word.length() > MAX_NUMBER ? failed() : Result.MORE;
        }
        if (!writeWord()) {
            return failed();
        }
        state = State.AFTER;
        return depth == 0 ? Result.DONE_BEFORE : after(letter);
    }

    private boolean writeWord() {
        String written = word.toString();
        String json = switch (written) {
            case "true", "True" -> "true";
            case "false", "False" -> "false";
            case "null", "None" -> "null";
            default -> NUMBER.matcher(written).matches() ? written : bareText(written);
        };
        if (json.isEmpty()) {
            return false;
        }
        out.putAll(json);
        word.setLength(0);
        return true;
    }

    private String bareText(String written) {
        return mark.isEmpty() ? number(written) : JsonText.quoted(written);
    }

    /** A number that Python allows and JSON does not: {@code .5}, {@code +1}, {@code 1_000}. */
    private static String number(String written) {
        String plain = written.replace("_", "");
        plain = plain.startsWith("+") ? plain.substring(1) : plain;
        plain = plain.startsWith(".") ? "0" + plain : plain.startsWith("-.") ? "-0" + plain.substring(1) : plain;
        plain = plain.endsWith(".") ? plain + "0" : plain;
        return NUMBER.matcher(plain).matches() ? plain : "";
    }

    /** Stands for a special token, which no value has in it. */
    private static boolean isForeign(char letter) {
        return Letters.isToken(letter);
    }

    private Result failed() {
        return Result.FAILED;
    }

    /** A whole text as JSON, where it is one value; else empty. */
    static String json(String text) {
        var json = new StringBuilder();
        var reader = new ValueReader("", json::append);
        for (int position = 0; position < text.length(); position++) {
            switch (reader.accept(text.charAt(position))) {
                case MORE -> {}
                case DONE -> {
                    return text.substring(position + 1).isBlank() ? json.toString() : "";
                }
                case DONE_BEFORE -> {
                    return text.substring(position).isBlank() ? json.toString() : "";
                }
                case FAILED -> {
                    return "";
                }
            }
        }
        return reader.finish() ? json.toString() : "";
    }
}
