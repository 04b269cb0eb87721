package roselle.conversation.parse;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads calls as Python writes them: {@code [name(key=value, …), …]}, with or without brackets, or one on each line. */
final class PythonReader implements CallReader {
    private static final int MAX_NAME = 256;

    private enum State {
        OUTSIDE,
        NAME,
        ARGUMENT,
        KEY,
        EQUALS,
        VALUE,
        AFTER_VALUE,
        END_MARK,
        BROKEN
    }

    private final String end;
    private final ToolTypes tools;
    private final boolean isKnownAlone;
    private final CallSink sink;
    private final RestReader rest;

    private State state = State.OUTSIDE;
    private boolean isInList;
    private boolean hasList;
    private int calls;
    private boolean hasStarted;
    private int count;
    private final StringBuilder word = new StringBuilder();
    private String name = "";
    private @Nullable ValueReader value;
    private Literal endMark = new Literal(List.of());

    /** @param isKnownAlone whether nothing but names of the tools begins a call */
    PythonReader(String end, ToolTypes tools, boolean isKnownAlone, CallSink sink) {
        this.end = end;
        this.tools = tools;
        this.isKnownAlone = isKnownAlone;
        this.sink = sink;
        rest = new RestReader(List.of(end), sink::argument);
    }

    @Override
    public Result accept(char letter) {
        return switch (state) {
            case OUTSIDE -> outside(letter);
            case NAME -> name(letter);
            case ARGUMENT -> argument(letter);
            case KEY -> key(letter);
            case EQUALS -> afterKey(letter);
            case VALUE -> value(letter);
            case AFTER_VALUE -> afterValue(letter);
            case END_MARK -> endMark(letter);
            case BROKEN -> broken(letter);
        };
    }

    private Result outside(char letter) {
        if (JsonText.isSpace(letter) || (calls > 0 && (letter == ',' || letter == ';'))) {
            return Result.MORE;
        }
        if (!end.isEmpty() && letter == end.charAt(0)) {
            endMark = new Literal(List.of(end));
            state = State.END_MARK;
            return endMark(letter);
        }
        if (letter == '[' && !hasList && calls == 0) {
            isInList = true;
            hasList = true;
            return Result.MORE;
        }
        if (letter == ']' && isInList) {
            isInList = false;
            sink.settled();
            return end.isEmpty() && calls > 0 ? Result.DONE : Result.MORE;
        }
        if (isNameLetter(letter) && (isInList || !hasList)) {
            word.setLength(0);
            word.append(letter);
            state = State.NAME;
            return Result.MORE;
        }
        return over();
    }

    private Result over() {
        return calls > 0 ? Result.DONE_BEFORE : Result.FAILED;
    }

    private static boolean isNameLetter(char letter) {
        return Character.isLetterOrDigit(letter) || letter == '_' || letter == '.' || letter == '-';
    }

    private Result endMark(char letter) {
        return switch (endMark.accept(letter)) {
            case Literal.MORE -> Result.MORE;
            case Literal.NONE -> over();
            default -> Result.DONE;
        };
    }

    private Result name(char letter) {
        if (isNameLetter(letter)) {
            word.append(letter);
            return word.length() > MAX_NAME ? over() : Result.MORE;
        }
        name = word.toString();
        if (letter != '(' || (isKnownAlone && !tools.has(name))) {
            return over();
        }
        sink.started(name, "");
        hasStarted = true;
        count = 0;
        state = State.ARGUMENT;
        return Result.MORE;
    }

    private Result argument(char letter) {
        if (JsonText.isSpace(letter)) {
            return Result.MORE;
        }
        if (letter == ')') {
            return endCall();
        }
        word.setLength(0);
        if (Character.isLetter(letter) || letter == '_') {
            word.append(letter);
            state = State.KEY;
            return Result.MORE;
        }
        begin(tools.parameter(name, count));
        return value(letter);
    }

    private void begin(String parameter) {
        sink.arguments(count++ == 0 ? "{" : ", ");
        sink.arguments(JsonText.quoted(parameter) + ": ");
        value = new ValueReader("", sink::argument);
        state = State.VALUE;
    }

    private Result key(char letter) {
        if (isNameLetter(letter)) {
            word.append(letter);
            return word.length() > MAX_NAME ? broken(word.toString(), letter) : Result.MORE;
        }
        state = State.EQUALS;
        return afterKey(letter);
    }

    private Result afterKey(char letter) {
        if (JsonText.isSpace(letter)) {
            return Result.MORE;
        }
        if (letter == '=') {
            begin(word.toString());
            return Result.MORE;
        }
        if (letter != ',' && letter != ')') {
            return broken(word.toString(), letter);
        }
        String positional = word.toString(); // a word without a key: True, None
        begin(tools.parameter(name, count));
        for (int position = 0; position < positional.length(); position++) {
            if (value(positional.charAt(position)) != Result.MORE) {
                return Result.MORE;
            }
        }
        return value(letter);
    }

    private Result value(char letter) {
        if (value == null) {
            return over();
        }
        switch (value.accept(letter)) {
            case MORE -> {}
            case DONE -> state = State.AFTER_VALUE;
            case DONE_BEFORE -> {
                state = State.AFTER_VALUE;
                return afterValue(letter);
            }
            case FAILED -> {
                return broken(value.unwritten(), letter);
            }
        }
        return Result.MORE;
    }

    private Result afterValue(char letter) {
        if (JsonText.isSpace(letter)) {
            return Result.MORE;
        }
        if (letter == ')') {
            return endCall();
        }
        if (letter == ',') {
            state = State.ARGUMENT;
            return Result.MORE;
        }
        return broken("", letter);
    }

    private Result endCall() {
        sink.arguments(count == 0 ? "{}" : "}");
        ended();
        state = State.OUTSIDE;
        return Result.MORE;
    }

    private void ended() {
        hasStarted = false;
        calls++;
        sink.ended();
    }

    /** No literals of Python from here on: the arguments go on as they are written, up to the mark behind all calls. */
    private Result broken(String unwritten, char letter) {
        sink.arguments(unwritten);
        state = State.BROKEN;
        return broken(letter);
    }

    private Result broken(char letter) {
        Result result = rest.accept(letter);
        if (result != Result.MORE) {
            ended();
        }
        return result;
    }

    @Override
    public void finish() {
        if (!hasStarted) {
            return;
        }
        switch (state) {
            case BROKEN -> rest.finish();
            case VALUE -> sink.arguments(value == null ? "" : value.unwritten());
            case KEY, EQUALS -> sink.arguments(word);
            case OUTSIDE, NAME, ARGUMENT, AFTER_VALUE, END_MARK -> {}
        }
        ended();
    }
}
