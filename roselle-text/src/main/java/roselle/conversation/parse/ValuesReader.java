package roselle.conversation.parse;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.Element.Values;
import roselle.conversation.parse.CallReader.Result;

/**
 * Reads arguments as elements that tell their keys and types, with elements within for objects and lists. Texts are told while
 * they come; another value when its element ends.
 */
final class ValuesReader implements ArgumentsReader {
    private static final int MAX_ATTRIBUTES = 1024;

    private enum State {
        /** An element begins or ends, or all of them. */
        NEXT,
        ATTRIBUTES,
        TEXT,
        /** A value of JSON, told at its end. */
        COLLECT
    }

    /** An object or a list that has begun and not ended. */
    private static final class Frame {
        final boolean isList;
        int count;

        Frame(boolean isList) {
            this.isList = isList;
        }
    }

    private final Values layout;
    private final String after;
    private final CallSink sink;
    private final ArrayDeque<Frame> frames = new ArrayDeque<>(); // the innermost first
    private final StringBuilder collected = new StringBuilder();

    private State state = State.NEXT;
    private Literal literal;
    private @Nullable RestReader value;
    private String leftover = "";

    /** @param after the literal behind all arguments */
    ValuesReader(Values layout, String after, CallSink sink) {
        this.layout = layout;
        this.after = after;
        this.sink = sink;
        literal = next();
        frames.push(new Frame(false));
    }

    private Literal next() {
        return new Literal(List.of(layout.begin(), layout.end(), after));
    }

    @Override
    public boolean begins(char letter) {
        return letter == layout.begin().charAt(0) || letter == after.charAt(0);
    }

    /** Nothing: types are told beside each value. */
    @Override
    public void of(String name) {}

    @Override
    public Result accept(char letter) {
        return switch (state) {
            case NEXT -> next(letter);
            case ATTRIBUTES -> attributes(letter);
            case TEXT, COLLECT -> value(letter);
        };
    }

    private Result next(char letter) {
        return switch (literal.accept(letter)) {
            case Literal.MORE -> Result.MORE;
            case 0 -> {
                collected.setLength(0);
                state = State.ATTRIBUTES;
                yield Result.MORE;
            }
            case 1 -> {
                if (frames.size() == 1) {
                    yield broken(layout.end());
                }
                close();
                literal = next();
                yield Result.MORE;
            }
            case 2 -> {
                closeAll();
                yield Result.DONE;
            }
            default -> broken(literal.taken());
        };
    }

    /** Ends with what cannot be read as a part of the arguments. */
    private Result broken(String read) {
        leftover = read;
        closeAll();
        return Result.DONE_BEFORE;
    }

    private Result attributes(char letter) {
        if (Letters.isToken(letter) || collected.length() > MAX_ATTRIBUTES) {
            return broken(layout.begin() + collected);
        }
        if (letter != '>') {
            collected.append(letter);
            return Result.MORE;
        }
        begin(collected.toString());
        return Result.MORE;
    }

    private void begin(String attributes) {
        Frame outer = frames.getFirst();
        if (outer.count++ > 0) {
            sink.arguments(", ");
        } else {
            sink.arguments(outer.isList ? "[" : "{");
        }
        if (!outer.isList) {
            sink.arguments(JsonText.quoted(attribute(attributes, "name").orElse("")) + ": ");
        }
        collected.setLength(0);
        String type = attribute(attributes, "type").orElse("raw");
        switch (type) {
            case "dict", "list" -> {
                frames.push(new Frame(type.equals("list")));
                literal = next();
                state = State.NEXT;
            }
            case "json" -> {
                value = new RestReader(List.of(layout.end()), collected::append);
                state = State.COLLECT;
            }
            default -> {
                sink.argument('"');
                value = new RestReader(List.of(layout.end()), character -> JsonText.escape(character, sink::argument));
                state = State.TEXT;
            }
        }
    }

    /** The value of an attribute, its entities spelled out. */
    private static Optional<String> attribute(String attributes, String name) {
        String begin = " " + name + "=\"";
        int from = attributes.indexOf(begin);
        int to = from < 0 ? -1 : attributes.indexOf('"', from + begin.length());
        return to < 0
                ? Optional.empty()
                : Optional.of(Values.unescaped(attributes.substring(from + begin.length(), to)));
    }

    private Result value(char letter) {
        if (value == null) {
            return Result.FAILED;
        }
        Result result = value.accept(letter);
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
            String json = collected.toString();
            sink.arguments(json.isBlank() ? "null" : ToolTypes.json(json, Optional.empty()));
        }
        literal = next();
        state = State.NEXT;
    }

    /** Ends the innermost object or list. */
    private void close() {
        Frame frame = frames.pop();
        if (frame.isList) {
            sink.arguments(frame.count == 0 ? "[]" : "]");
        } else {
            sink.arguments(frame.count == 0 ? "{}" : "}");
        }
    }

    private void closeAll() {
        while (!frames.isEmpty()) {
            close();
        }
    }

    @Override
    public String leftover() {
        return leftover;
    }

    @Override
    public void finish() {
        if (value != null && state != State.NEXT) {
            value.finish();
        }
        if (state == State.COLLECT) {
            sink.arguments(collected.toString());
        } else if (state == State.NEXT && frames.size() == 1) {
            close();
        }
    }
}
