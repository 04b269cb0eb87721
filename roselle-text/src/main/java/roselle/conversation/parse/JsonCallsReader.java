package roselle.conversation.parse;

import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.Layout.JsonObject;

/** Reads calls that are JSON objects with the name and the arguments in them: one, several, or an array of them. */
final class JsonCallsReader implements CallReader {
    private enum State {
        OUTSIDE,
        KEY,
        COLON,
        VALUE,
        AFTER_VALUE,
        END_MARK,
        BROKEN
    }

    private enum Member {
        NAME,
        ID,
        ARGUMENTS,
        OTHER
    }

    private final JsonObject layout;
    private final String end;
    private final @Nullable ToolTypes known;
    private final CallSink sink;
    private final RestReader rest;

    private State state = State.OUTSIDE;
    private boolean isInArray;
    private boolean hasArray;
    private int calls;
    private Literal endMark = new Literal(List.of());

    private Member member = Member.OTHER;
    private final StringBuilder text = new StringBuilder(); // of a key, or of a value that is no object of arguments
    private @Nullable ValueReader value;
    private String name = "";
    private String id = "";
    private @Nullable String waiting; // arguments that came before the name
    private boolean hasStarted;
    private boolean copies; // whether the value goes to the sink as it comes

    /** @param known the tools that may be called; null where any name is taken for one */
    JsonCallsReader(JsonObject layout, String end, @Nullable ToolTypes known, CallSink sink) {
        this.layout = layout;
        this.end = end;
        this.known = known;
        this.sink = sink;
        rest = new RestReader(List.of(end), sink::argument);
    }

    @Override
    public Result accept(char letter) {
        return switch (state) {
            case OUTSIDE -> outside(letter);
            case KEY -> key(letter);
            case COLON -> colon(letter);
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
        if (isEndOfAll(letter)) {
            endMark = new Literal(List.of(end));
            state = State.END_MARK;
            return endMark(letter);
        }
        if (letter == '[' && !hasArray && calls == 0) {
            isInArray = true;
            hasArray = true;
            return Result.MORE;
        }
        if (letter == ']' && isInArray) {
            isInArray = false;
            sink.settled();
            return end.isEmpty() && calls > 0 ? Result.DONE : Result.MORE;
        }
        if (letter == '{' && (isInArray || !hasArray)) {
            begin();
            return Result.MORE;
        }
        return calls > 0 ? Result.DONE_BEFORE : Result.FAILED;
    }

    private boolean isEndOfAll(char letter) {
        return !end.isEmpty() && letter == end.charAt(0) && (calls > 0 || (hasArray && !isInArray));
    }

    private Result endMark(char letter) {
        return switch (endMark.accept(letter)) {
            case Literal.MORE -> Result.MORE;
            case Literal.NONE -> calls > 0 ? Result.DONE_BEFORE : Result.FAILED;
            default -> Result.DONE;
        };
    }

    private void begin() {
        name = "";
        id = "";
        waiting = null;
        hasStarted = false;
        copies = false;
        state = State.KEY;
    }

    private Result key(char letter) {
        if (value == null) {
            if (JsonText.isSpace(letter) || letter == ',') {
                return Result.MORE;
            }
            if (letter == '}') {
                return endObject();
            }
            if (letter != '"' && letter != '\'') {
                return failed(letter);
            }
            text.setLength(0);
            value = new ValueReader("", text::append);
        }
        switch (value.accept(letter)) {
            case MORE -> {}
            case DONE -> {
                value = null;
                String key = JsonText.unquoted(text);
                if (key == null) {
                    return failed(letter);
                }
                member = member(key);
                if (member == Member.OTHER && known != null && !key.equals("type")) {
                    return failed(letter);
                }
                state = State.COLON;
            }
            case DONE_BEFORE, FAILED -> {
                return failed(letter);
            }
        }
        return Result.MORE;
    }

    private Member member(String key) {
        if (layout.name().isEmpty()) {
            name = key;
            return Member.ARGUMENTS;
        }
        if (key.equals(layout.name())) {
            return Member.NAME;
        }
        if (key.equals(layout.id())) {
            return Member.ID;
        }
        return layout.arguments().contains(key) ? Member.ARGUMENTS : Member.OTHER;
    }

    private Result colon(char letter) {
        if (JsonText.isSpace(letter)) {
            return Result.MORE;
        }
        if (letter != ':') {
            return failed(letter);
        }
        state = State.VALUE;
        return Result.MORE;
    }

    private Result value(char letter) {
        if (value == null) {
            if (JsonText.isSpace(letter)) {
                return Result.MORE;
            }
            copies = member == Member.ARGUMENTS && letter == '{' && !name.isEmpty() && !hasStarted && start();
            text.setLength(0);
            value = copies ? new ValueReader("", sink::argument) : new ValueReader("", text::append);
        }
        return switch (value.accept(letter)) {
            case MORE -> Result.MORE;
            case DONE -> {
                value = null;
                yield endValue() ? Result.MORE : failed(letter);
            }
            case DONE_BEFORE -> {
                value = null;
                yield endValue() ? afterValue(letter) : failed(letter);
            }
            case FAILED -> failed(letter);
        };
    }

    /** Begins a call; returns false where no tool has its name and one must. */
    private boolean start() {
        if (known != null && !known.has(name)) {
            return false;
        }
        hasStarted = true;
        sink.started(name, id);
        return true;
    }

    private boolean endValue() {
        state = State.AFTER_VALUE;
        switch (member) {
            case NAME -> {
                String read = JsonText.unquoted(text);
                if (read == null || read.isEmpty() || !name.isEmpty()) {
                    return false;
                }
                name = read;
                return known == null || known.has(name);
            }
            case ID -> {
                String read = JsonText.unquoted(text);
                id = read == null ? "" : read;
            }
            case ARGUMENTS -> {
                if (copies) {
                    ended();
                } else if (!hasStarted) {
                    waiting = arguments(text.toString());
                }
            }
            case OTHER -> {}
        }
        return true;
    }

    /** Arguments that are no object, or that came before the name: a text may spell an object. */
    private static String arguments(String json) {
        if (json.equals("null")) {
            return "{}";
        }
        String spelled = json.startsWith("\"") ? JsonText.unquoted(json) : null;
        return spelled == null ? json : spelled;
    }

    private Result afterValue(char letter) {
        if (JsonText.isSpace(letter)) {
            return Result.MORE;
        }
        if (letter == ',') {
            state = State.KEY;
            return Result.MORE;
        }
        return letter == '}' ? endObject() : failed(letter);
    }

    private Result endObject() {
        if (!hasStarted) {
            if (name.isEmpty() || !start()) {
                return failed('}');
            }
            sink.arguments(waiting == null ? "{}" : waiting);
            ended();
        }
        sink.settled();
        state = State.OUTSIDE;
        return Result.MORE;
    }

    private void ended() {
        copies = false;
        calls++;
        sink.ended();
    }

    /** Not JSON from here on: arguments that have begun go on as they are written, up to the mark behind them. */
    private Result failed(char letter) {
        if (!copies) {
            return calls > 0 ? Result.DONE_BEFORE : Result.FAILED;
        }
        sink.arguments(value == null ? "" : value.unwritten());
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
        if (copies) {
            if (state == State.BROKEN) {
                rest.finish();
            } else if (value != null) {
                sink.arguments(value.unwritten());
            }
            ended();
        }
    }
}
