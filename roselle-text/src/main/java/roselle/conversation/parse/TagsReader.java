package roselle.conversation.parse;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.conversation.parse.CallReader.Result;

/**
 * Reads arguments as elements that are named by their keys, with elements within for objects and lists. Texts are told while they come;
 * another value when its element ends, or its first element within begins.
 */
final class TagsReader implements ArgumentsReader {
    private static final int MAX_TAG = 1024;
    private static final String ITEM = "item";

    private enum Content {
        /** Nothing has come yet but blanks. */
        OPEN,
        TEXT,
        /** A value whose type is open until its end. */
        COLLECT,
        OBJECT,
        LIST
    }

    /** An element that has begun and not ended. */
    private static final class Frame {
        final String name;
        final List<Map<String, Object>> kinds; // what the schema says of it; none where it says nothing
        final Optional<Set<String>> types;
        final StringBuilder collected = new StringBuilder();
        Content content = Content.OPEN;
        int count;

        Frame(String name, List<Map<String, Object>> kinds) {
            this.name = name;
            this.kinds = kinds;
            this.types = ToolTypes.types(kinds);
        }
    }

    private final String namespace;
    private final String after;
    private final ToolTypes tools;
    private final CallSink sink;
    private final ArrayDeque<Frame> frames = new ArrayDeque<>(); // the innermost first
    private RestReader text;
    private @Nullable StringBuilder tag; // behind a namespace
    private String leftover = "";

    /** @param after the literal behind all arguments, which begins with the namespace */
    TagsReader(String namespace, String after, ToolTypes tools, CallSink sink) {
        this.namespace = namespace;
        this.after = after;
        this.tools = tools;
        this.sink = sink;
        this.text = text();
    }

    private RestReader text() {
        return new RestReader(List.of(namespace), this::take);
    }

    @Override
    public boolean begins(char letter) {
        return letter == namespace.charAt(0);
    }

    @Override
    public void of(String name) {
        Frame whole = new Frame("", tools.schema(name));
        whole.content = Content.OBJECT;
        frames.push(whole);
    }

    @Override
    public Result accept(char letter) {
        return tag == null ? text(letter) : tag(tag, letter);
    }

    private Result text(char letter) {
        Result result = text.accept(letter);
        if (result == Result.DONE) {
            tag = new StringBuilder();
            return Result.MORE;
        }
        if (result == Result.DONE_BEFORE) {
            closeAll();
        }
        return result;
    }

    private Result tag(StringBuilder read, char letter) {
        if (Letters.isToken(letter) || read.length() > MAX_TAG) {
            leftover = namespace + read;
            closeAll();
            return Result.DONE_BEFORE;
        }
        read.append(letter);
        if (letter != '>') {
            return Result.MORE;
        }
        tag = null;
        text = text();
        return ended(read.toString());
    }

    private Result ended(String read) {
        if (read.startsWith("</")) {
            String name = read.substring(2, read.length() - 1).strip();
            if (frames.size() > 1 && frames.stream().anyMatch(frame -> frame.name.equals(name))) {
                for (boolean isClosed = false; !isClosed; ) {
                    isClosed = close().equals(name);
                }
                return Result.MORE;
            }
            closeAll();
            boolean isEnd = after.equals(namespace + read);
            leftover = isEnd ? "" : namespace + read;
            return isEnd ? Result.DONE : Result.DONE_BEFORE;
        }
        open(read.startsWith("<") ? read.substring(1, read.length() - 1).strip() : read, read);
        return Result.MORE;
    }

    private Frame here() {
        return frames.getFirst();
    }

    private void open(String name, String read) {
        Frame outer = here();
        if (outer.content == Content.TEXT || !outer.collected.toString().isBlank()) { // no element begins within a text
            for (int position = 0; position < read.length(); position++) {
                take(read.charAt(position));
            }
            return;
        }
        if (outer.content == Content.OPEN || outer.content == Content.COLLECT) {
            boolean mayBeList =
                    outer.types.map(types -> types.contains("array")).orElse(true);
            boolean mayBeObject =
                    outer.types.map(types -> types.contains("object")).orElse(true);
            outer.content = mayBeList && (name.equals(ITEM) || !mayBeObject) ? Content.LIST : Content.OBJECT;
        }
        boolean isList = outer.content == Content.LIST;
        sink.arguments(outer.count++ > 0 ? ", " : isList ? "[" : "{");
        if (!isList) {
            sink.arguments(JsonText.quoted(name) + ": ");
        }
        frames.push(new Frame(name, ToolTypes.within(outer.kinds, isList ? null : name)));
    }

    private void take(char letter) {
        Frame frame = here();
        switch (frame.content) {
            case OPEN -> {
                boolean isText = ToolTypes.isText(frame.types);
                frame.content = isText ? Content.TEXT : Content.COLLECT;
                if (isText) {
                    sink.argument('"');
                }
                take(letter);
            }
            case TEXT -> JsonText.escape(letter, sink::argument);
            case COLLECT -> frame.collected.append(letter);
            case OBJECT, LIST -> {} // blanks between elements
        }
    }

    /** Ends the innermost element; returns its name. */
    private String close() {
        Frame frame = frames.pop();
        switch (frame.content) {
            case OPEN, COLLECT -> sink.arguments(value(frame));
            case TEXT -> sink.argument('"');
            case OBJECT -> sink.arguments(frame.count == 0 ? "{}" : "}");
            case LIST -> sink.arguments("]");
        }
        return frame.name;
    }

    private static String value(Frame frame) {
        if (frame.collected.toString().isBlank() && ToolTypes.isNested(frame.types)) {
            return frame.types.map(types -> types.contains("array")).orElse(false) ? "[]" : "{}";
        }
        return ToolTypes.json(frame.collected.toString(), frame.types);
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
        if (frames.isEmpty()) {
            return;
        }
        text.finish();
        Frame frame = here();
        if (frames.size() == 1) {
            close();
        } else if (frame.content == Content.COLLECT) {
            sink.arguments(frame.collected.toString());
        }
    }
}
