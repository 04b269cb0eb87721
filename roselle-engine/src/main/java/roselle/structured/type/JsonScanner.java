package roselle.structured.type;

import java.util.BitSet;

/**
 * Reads one JSON value character by character, wherever the text is cut into pieces, and tells what it meets. It remembers nothing
 * but the string, name or number that it is in; its work is the same for each character.
 */
final class JsonScanner {
    /** Hears what is met, in order. */
    interface Listener {
        void beginObject();

        void name(String name);

        void endObject();

        void beginArray();

        void endArray();

        void beginText();

        /** What follows in the string, without escapes, up to where the piece ends, or all at its end. */
        void text(String part);

        /** The string as a whole. */
        void endText(String whole);

        /** A number, {@code true}, {@code false} or {@code null} has begun. */
        void beginWord();

        void word(String word);

        /** Refuses what is no JSON. */
        RuntimeException malformed(String what);
    }

    private enum State {
        VALUE,
        VALUE_OR_END,
        NAME,
        NAME_OR_END,
        COLON,
        AFTER,
        TEXT,
        ESCAPE,
        CODE,
        WORD
    }

    private final Listener listener;
    private final BitSet objects = new BitSet(); // whether the value open at a depth is one
    private final StringBuilder text = new StringBuilder(); // of the string, name or word
    private int depth;
    private State state = State.VALUE;
    private boolean isName;
    private int told; // of a string
    private int code;
    private int codeDigits;

    JsonScanner(Listener listener) {
        this.listener = listener;
    }

    /** Reads what follows. */
    void accept(String piece) {
        int at = 0;
        while (at < piece.length()) {
            if (state == State.TEXT) {
                at = text(piece, at);
            } else {
                read(piece.charAt(at++));
            }
        }
        if (state == State.TEXT && !isName) {
            tell(isHalf() ? 1 : 0);
        }
    }

    /** Ends a number that nothing follows. */
    void finish() {
        if (state == State.WORD && depth == 0) {
            endWord();
        }
    }

    /** Whether the value is read. */
    boolean isOver() {
        return depth == 0 && state == State.AFTER;
    }

    /** What was read of the string that has not ended; empty where there is none. */
    String begun() {
        boolean isText = !isName && (state == State.TEXT || state == State.ESCAPE || state == State.CODE);
        return isText ? text.substring(0, told) : "";
    }

    private void read(char letter) {
        switch (state) {
            case VALUE, VALUE_OR_END -> value(letter);
            case NAME, NAME_OR_END -> name(letter);
            case COLON -> colon(letter);
            case AFTER -> after(letter);
            case ESCAPE -> escape(letter);
            case CODE -> code(letter);
            case WORD -> word(letter);
            case TEXT -> throw new AssertionError("strings are read in pieces");
        }
    }

    private static boolean isSpace(char letter) {
        return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t';
    }

    private void value(char letter) {
        if (isSpace(letter)) {
            return;
        }
        switch (letter) {
            case '{' -> open(true, State.NAME_OR_END);
            case '[' -> open(false, State.VALUE_OR_END);
            case ']' -> {
                require(state == State.VALUE_OR_END, letter);
                close(letter);
            }
            case '"' -> {
                listener.beginText();
                begin(false);
            }
            default -> {
                require(isWordLetter(letter), letter);
                listener.beginWord();
                text.setLength(0);
                text.append(letter);
                state = State.WORD;
            }
        }
    }

    private void begin(boolean asName) {
        isName = asName;
        text.setLength(0);
        told = 0;
        state = State.TEXT;
    }

    private void open(boolean isObject, State next) {
        objects.set(depth++, isObject);
        if (isObject) {
            listener.beginObject();
        } else {
            listener.beginArray();
        }
        state = next;
    }

    private void close(char letter) {
        boolean isObject = letter == '}';
        require(depth > 0 && objects.get(depth - 1) == isObject, letter);
        depth--;
        state = State.AFTER;
        if (isObject) {
            listener.endObject();
        } else {
            listener.endArray();
        }
    }

    private void name(char letter) {
        if (isSpace(letter)) {
            return;
        }
        if (letter == '}' && state == State.NAME_OR_END) {
            close(letter);
            return;
        }
        require(letter == '"', letter);
        begin(true);
    }

    private void colon(char letter) {
        if (!isSpace(letter)) {
            require(letter == ':', letter);
            state = State.VALUE;
        }
    }

    private void after(char letter) {
        if (isSpace(letter)) {
            return;
        }
        if (letter == '}' || letter == ']') {
            close(letter);
            return;
        }
        require(letter == ',' && depth > 0, letter);
        state = objects.get(depth - 1) ? State.NAME : State.VALUE;
    }

    // ---- strings ----

    /** Reads of a string what needs no change, and the character behind it; returns where that ends. */
    private int text(String piece, int from) {
        int at = from;
        while (at < piece.length() && piece.charAt(at) != '"' && piece.charAt(at) != '\\') {
            require(piece.charAt(at) >= ' ', piece.charAt(at));
            at++;
        }
        text.append(piece, from, at);
        if (at == piece.length()) {
            return at;
        }
        if (piece.charAt(at) == '\\') {
            state = State.ESCAPE;
        } else {
            endText();
        }
        return at + 1;
    }

    private void endText() {
        if (isName) {
            state = State.COLON;
            listener.name(text.toString());
        } else {
            tell(0);
            state = State.AFTER;
            listener.endText(text.toString());
        }
    }

    private void tell(int held) {
        int certain = text.length() - held;
        if (certain > told) {
            String part = text.substring(told, certain);
            told = certain;
            listener.text(part);
        }
    }

    /** Whether the string so far ends with the first half of a surrogate pair. */
    private boolean isHalf() {
        return !text.isEmpty() && Character.isHighSurrogate(text.charAt(text.length() - 1));
    }

    private void escape(char letter) {
        state = State.TEXT;
        switch (letter) {
            case '"', '\\', '/' -> text.append(letter);
            case 'b' -> text.append('\b');
            case 'f' -> text.append('\f');
            case 'n' -> text.append('\n');
            case 'r' -> text.append('\r');
            case 't' -> text.append('\t');
            case 'u' -> {
                code = 0;
                codeDigits = 4;
                state = State.CODE;
            }
            default -> throw malformed(letter);
        }
    }

    private void code(char letter) {
        int digit = Character.digit(letter, 16);
        require(digit >= 0 && letter <= 'f', letter);
        code = code << 4 | digit;
        if (--codeDigits == 0) {
            text.append((char) code);
            state = State.TEXT;
        }
    }

    // ---- numbers, true, false, null ----

    private static boolean isWordLetter(char letter) {
        return (letter >= 'a' && letter <= 'z')
                || (letter >= '0' && letter <= '9')
                || letter == '-'
                || letter == '+'
                || letter == '.'
                || letter == 'E';
    }

    private void word(char letter) {
        if (isWordLetter(letter)) {
            text.append(letter);
            return;
        }
        endWord();
        after(letter);
    }

    private void endWord() {
        state = State.AFTER;
        listener.word(text.toString());
    }

    private void require(boolean isExpected, char letter) {
        if (!isExpected) {
            throw malformed(letter);
        }
    }

    private RuntimeException malformed(char letter) {
        return listener.malformed("'" + letter + "' is not expected here");
    }
}
