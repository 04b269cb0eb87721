package roselle.conversation.parse;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.Element.Parameters;
import roselle.conversation.format.Element.ValueBegin;
import roselle.conversation.format.Element.ValueType;
import roselle.conversation.parse.CallReader.Result;

/**
 * Reads arguments that are written one by one, and writes them as one JSON object. Texts, objects and lists are told while they
 * come; a value whose type is open until its end is told then.
 */
final class ParametersReader implements ArgumentsReader {
    private static final int MAX_KEY = 1024;

    private enum State {
        NEXT,
        KEY,
        VALUE_BEGIN,
        VALUE_START,
        TEXT,
        COLLECT,
        NESTED,
        NESTED_END,
        REST
    }

    private final Parameters layout;
    private final String after;
    private final ToolTypes tools;
    private final CallSink sink;
    private final List<String> ends;

    private String tool = "";
    private State state = State.NEXT;
    private Literal literal;
    private int count;
    private String key = "";
    private ValueType type = ValueType.BY_SCHEMA;
    private Optional<Set<String>> types = Optional.empty();
    private RestReader text;
    private final StringBuilder collected = new StringBuilder();
    private @Nullable ValueReader nested;
    private boolean hasLine; // the one before a value

    /** @param after the literal behind all of them; empty for none */
    ParametersReader(Parameters layout, String after, ToolTypes tools, CallSink sink) {
        this.layout = layout;
        this.after = after;
        this.tools = tools;
        this.sink = sink;
        String end = layout.end().strip();
        ends = layout.onLines() ? List.of("\n" + end, end) : List.of(end);
        literal = next();
        text = new RestReader(ends, sink::argument);
    }

    private Literal next() {
        var choices = new ArrayList<>(List.of(layout.begin().strip()));
        if (!after.isEmpty()) {
            choices.add(after);
        }
        return new Literal(choices);
    }

    @Override
    public boolean begins(char letter) {
        return letter == layout.begin().strip().charAt(0) || (!after.isEmpty() && letter == after.charAt(0));
    }

    @Override
    public void of(String name) {
        tool = name;
    }

    @Override
    public Result accept(char letter) {
        return switch (state) {
            case NEXT -> next(letter);
            case KEY -> key(letter);
            case VALUE_BEGIN -> valueBegin(letter);
            case VALUE_START -> valueStart(letter);
            case TEXT, COLLECT -> value(letter);
            case NESTED -> nested(letter);
            case NESTED_END -> nestedEnd(letter);
            case REST -> rest(letter);
        };
    }

    private Result next(char letter) {
        return switch (literal.accept(letter)) {
            case Literal.MORE -> Result.MORE;
            case 0 -> {
                collected.setLength(0);
                text = new RestReader(List.of(layout.keyEnd().strip()), collected::append);
                state = State.KEY;
                yield Result.MORE;
            }
            case 1 -> {
                close();
                yield Result.DONE;
            }
            default -> {
                close();
                yield Result.DONE_BEFORE;
            }
        };
    }

    private void close() {
        sink.arguments(count == 0 ? "{}" : "}");
    }

    private Result key(char letter) {
        Result result = text.accept(letter);
        if (result == Result.DONE) {
            key = collected.toString().strip();
            sink.arguments(count++ == 0 ? "{" : ", ");
            sink.arguments(JsonText.quoted(key) + ": ");
            state = State.VALUE_BEGIN;
            List<String> begins =
                    layout.values().stream().map(value -> value.text().strip()).toList();
            if (begins.equals(List.of(""))) {
                begin(layout.values().getFirst());
            } else {
                literal = new Literal(begins);
            }
            return Result.MORE;
        }
        if (result == Result.DONE_BEFORE || collected.length() > MAX_KEY) { // a key without its value
            close();
            return Result.DONE_BEFORE;
        }
        return result;
    }

    private Result valueBegin(char letter) {
        int choice = literal.accept(letter);
        if (choice >= 0) {
            begin(layout.values().get(choice));
        } else if (choice == Literal.NONE) { // a mark that is not known: the value is all there is
            begin(new ValueBegin("", ValueType.BY_SCHEMA));
            return accept(letter);
        }
        return Result.MORE;
    }

    private void begin(ValueBegin begin) {
        type = begin.type();
        types = type == ValueType.BY_SCHEMA ? tools.types(tool, key) : Optional.empty();
        collected.setLength(0);
        hasLine = !layout.onLines();
        state = State.VALUE_START;
    }

    private Result valueStart(char letter) {
        if (!hasLine && letter == '\n') {
            hasLine = true;
            return Result.MORE;
        }
        if (type == ValueType.TEXT || ToolTypes.isText(types)) {
            sink.argument('"');
            text = new RestReader(ends, character -> JsonText.escape(character, sink::argument));
            state = State.TEXT;
            return value(letter);
        }
        if ((letter == '{' || letter == '[') && (type == ValueType.JSON || ToolTypes.isNested(types))) {
            nested = new ValueReader("", sink::argument);
            state = State.NESTED;
            return nested(letter);
        }
        text = new RestReader(ends, collected::append);
        state = State.COLLECT;
        return value(letter);
    }

    private Result value(char letter) {
        Result result = text.accept(letter);
        if (result == Result.MORE) {
            return result;
        }
        endValue();
        return result == Result.DONE ? Result.MORE : accept(letter);
    }

    private void endValue() {
        if (state == State.TEXT) {
            sink.argument('"');
        } else {
            sink.arguments(ToolTypes.json(collected.toString(), types));
        }
        literal = next();
        state = State.NEXT;
    }

    private Result nested(char letter) {
        if (nested == null) {
            return Result.FAILED;
        }
        switch (nested.accept(letter)) {
            case MORE -> {}
            case DONE -> {
                literal = new Literal(List.of(layout.end().strip()));
                state = State.NESTED_END;
            }
            case DONE_BEFORE, FAILED -> { // no JSON: what the model wrote, as it is
                sink.arguments(nested.unwritten());
                text = new RestReader(ends, sink::argument);
                state = State.REST;
                return rest(letter);
            }
        }
        return Result.MORE;
    }

    private Result rest(char letter) {
        Result result = text.accept(letter);
        return switch (result) {
            case MORE -> result;
            case DONE -> endNested();
            case DONE_BEFORE, FAILED -> {
                endNested();
                yield accept(letter);
            }
        };
    }

    private Result endNested() {
        literal = next();
        state = State.NEXT;
        return Result.MORE;
    }

    private Result nestedEnd(char letter) {
        return switch (literal.accept(letter)) {
            case Literal.MORE -> Result.MORE;
            case Literal.NONE -> {
                String taken = literal.taken();
                endNested();
                Result result = Result.MORE;
                for (int position = 0; position < taken.length() && result == Result.MORE; position++) {
                    result = accept(taken.charAt(position));
                }
                yield result == Result.MORE ? accept(letter) : result;
            }
            default -> endNested();
        };
    }

    @Override
    public String leftover() {
        return state == State.NEXT ? literal.taken() : "";
    }

    @Override
    public void finish() {
        switch (state) {
            case NEXT -> close();
            case TEXT -> text.finish();
            case COLLECT -> {
                text.finish();
                sink.arguments(collected.toString());
            }
            case NESTED -> sink.arguments(nested == null ? "" : nested.unwritten());
            case REST -> text.finish();
            case KEY, VALUE_BEGIN, VALUE_START, NESTED_END -> {}
        }
    }
}
