package roselle.conversation.parse;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.Element;
import roselle.conversation.format.Element.Ignored;
import roselle.conversation.format.Element.Json;
import roselle.conversation.format.Element.Maybe;
import roselle.conversation.format.Element.Name;
import roselle.conversation.format.Element.Parameters;
import roselle.conversation.format.Element.Tags;
import roselle.conversation.format.Element.Values;

/** Reads one call that is written as literals with its name and its arguments between them. */
final class ElementsReader implements CallReader {
    private static final int MAX_FIELD = 256;

    /** What a literal leads to. */
    private enum Then {
        /** The element behind it. */
        ELEMENT,
        /** The field behind it, of an element that may be missing. */
        FIELD,
        /** The element that begins with it. */
        SAME
    }

    /** Where reading goes on at a literal that ends a field, or that is expected. */
    private record Way(String literal, int next, Then then) {}

    private final List<Element> elements;
    private final ToolTypes tools;
    private final CallSink sink;

    private int position;
    private String name = "";
    private String id = "";
    private boolean isText; // what follows is no call
    private boolean hasStarted;
    private boolean hasEnded;

    private List<Way> ways = List.of();
    private @Nullable MarkFinder fieldEnds;
    private int search;
    private final StringBuilder field = new StringBuilder();
    private @Nullable Literal literal;
    private @Nullable ValueReader value;
    private @Nullable RestReader rest;
    private @Nullable ArgumentsReader parameters;

    ElementsReader(List<Element> elements, ToolTypes tools, CallSink sink) {
        this.elements = elements;
        this.tools = tools;
        this.sink = sink;
        enter(0);
    }

    /** Prepares for the element at a position; space-only literals ask for nothing. */
    private void enter(int next) {
        position = next;
        literal = null;
        fieldEnds = null;
        search = MarkFinder.START;
        field.setLength(0);
        while (position < elements.size()
                && elements.get(position) instanceof Element.Literal(String text)
                && text.isBlank()) {
            position++;
        }
        if (position == elements.size()) {
            return;
        }
        Element element = elements.get(position);
        switch (element) {
            case Element.Literal _, Maybe _ -> {
                ways = ways(position);
                literal = new Literal(ways.stream().map(Way::literal).toList());
            }
            case Name _, Element.Id _, Ignored _ -> enterField(position);
            case Parameters given -> parameters = new ParametersReader(given, after(position), tools, sink);
            case Tags(String namespace) -> parameters = new TagsReader(namespace, after(position), tools, sink);
            case Values given -> parameters = new ValuesReader(given, after(position), sink);
            case Json _ -> {}
        }
    }

    /** The literal behind the arguments, or empty. */
    private String after(int at) {
        for (int next = at + 1; next < elements.size(); next++) {
            if (elements.get(next) instanceof Element.Literal(String text) && !text.isBlank()) {
                return text.strip();
            }
        }
        return "";
    }

    /** What may come next, with where it leads. */
    private List<Way> ways(int from) {
        var found = new ArrayList<Way>();
        for (int next = from; next < elements.size(); next++) {
            switch (elements.get(next)) {
                case Element.Literal(String text) -> {
                    found.add(new Way(text.isBlank() ? text.substring(0, 1) : text.strip(), next + 1, Then.ELEMENT));
                    return found;
                }
                case Maybe maybe -> found.add(new Way(maybe.literal().strip(), next, Then.FIELD));
                case Json json -> {
                    found.add(new Way("{", next, Then.SAME));
                    return found;
                }
                case Parameters given -> {
                    found.add(new Way(given.begin().strip(), next, Then.SAME));
                    String end = after(next);
                    if (!end.isEmpty()) {
                        found.add(new Way(end, next, Then.SAME));
                    }
                    return found;
                }
                case Tags(String namespace) -> {
                    found.add(new Way(namespace, next, Then.SAME));
                    return found;
                }
                case Values given -> {
                    found.add(new Way(given.begin(), next, Then.SAME));
                    found.add(new Way(after(next), next, Then.SAME));
                    return found;
                }
                case Name _, Element.Id _, Ignored _ -> {
                    return found;
                }
            }
        }
        return found;
    }

    @Override
    public Result accept(char letter) {
        if (rest != null) {
            return rest(letter);
        }
        if (position == elements.size()) {
            return Result.DONE_BEFORE;
        }
        return switch (elements.get(position)) {
            case Element.Literal _ -> literal(letter);
            case Maybe(String _, Element then) -> fieldEnds == null ? literal(letter) : field(then, letter);
            case Name name -> field(name, letter);
            case Element.Id id -> field(id, letter);
            case Ignored ignored -> field(ignored, letter);
            case Json json -> json(json, letter);
            case Parameters _, Tags _, Values _ -> parameters(letter);
        };
    }

    private Result literal(char letter) {
        int choice = literal == null ? Literal.NONE : literal.accept(letter);
        if (choice == Literal.MORE) {
            return Result.MORE;
        }
        if (choice == Literal.NONE) {
            return hasEnded ? Result.DONE_BEFORE : Result.FAILED;
        }
        return take(ways.get(choice));
    }

    /** Goes on at a literal that has been read. */
    private Result take(Way way) {
        return switch (way.then()) {
            case ELEMENT -> {
                enter(way.next());
                if (hasEnded) {
                    sink.settled();
                }
                yield position == elements.size() ? finished() : Result.MORE;
            }
            case FIELD -> {
                enterField(way.next());
                yield Result.MORE;
            }
            case SAME -> {
                enter(way.next());
                yield replay(way.literal());
            }
        };
    }

    private void enterField(int at) {
        position = at;
        literal = null;
        search = MarkFinder.START;
        field.setLength(0);
        ways = ways(at + 1);
        fieldEnds = new MarkFinder(ways.stream().map(Way::literal).toList());
    }

    private Result finished() {
        return hasEnded || isText ? Result.DONE : Result.FAILED;
    }

    /** Reads again what ended a field and is the beginning of what comes next. */
    private Result replay(String text) {
        Result result = Result.MORE;
        for (int at = 0; at < text.length() && result == Result.MORE; at++) {
            result = accept(text.charAt(at));
        }
        return result;
    }

    private Result field(Element kind, char letter) {
        MarkFinder ends = fieldEnds;
        if (ends == null || ends.isEmpty()) {
            return Result.FAILED;
        }
        field.append(letter);
        search = ends.step(search, letter);
        int found = ends.found(search);
        if (found < 0) {
            boolean isForeign = Letters.isToken(letter) && ends.pending(search) == 0;
            return isForeign || field.length() > MAX_FIELD ? Result.FAILED : Result.MORE;
        }
        Way way = ways.get(found);
        String read =
                field.substring(0, field.length() - way.literal().length()).strip();
        if (way.literal().isBlank() && read.isEmpty()) {
            return Result.MORE; // space before the field, not behind it
        }
        return set(kind, read) ? (isText ? Result.DONE : take(way)) : Result.FAILED;
    }

    private boolean set(Element kind, String read) {
        switch (kind) {
            case Name(String prefix, String index, String text) -> {
                if (read.equals(text) && !text.isEmpty()) {
                    isText = true;
                    return true;
                }
                return setName(prefix, index, read);
            }
            case Element.Id _ -> id = read;
            case Ignored _, Element.Literal _, Maybe _, Json _, Parameters _, Tags _, Values _ -> {}
        }
        return true;
    }

    private boolean setName(String prefix, String index, String read) {
        String plain = read;
        int number = index.isEmpty() ? -1 : read.lastIndexOf(index);
        if (number >= 0) {
            id = read;
            plain = read.substring(0, number);
        }
        name = plain.startsWith(prefix) ? plain.substring(prefix.length()) : plain;
        return !tools.isEmpty()
                && !name.isEmpty()
                && name.chars().noneMatch(letter -> letter <= ' ' || letter == '"' || letter == '{');
    }

    private Result json(Json json, char letter) {
        if (value == null) {
            if (JsonText.isSpace(letter)) {
                return Result.MORE;
            }
            String end = after(position);
            boolean isMissing = !end.isEmpty() && letter == end.charAt(0);
            if (letter != '{' && !isMissing) {
                return Result.FAILED;
            }
            start();
            if (isMissing) {
                sink.arguments("{}");
                end();
                enter(position + 1);
                return accept(letter);
            }
            value = new ValueReader(json.quote(), sink::argument);
        }
        return switch (value.accept(letter)) {
            case MORE -> Result.MORE;
            case DONE -> {
                end();
                enter(position + 1);
                yield position == elements.size() ? Result.DONE : Result.MORE;
            }
            case DONE_BEFORE, FAILED -> {
                sink.arguments(value.unwritten());
                String end = after(position);
                rest = new RestReader(end.isEmpty() ? List.of() : List.of(end), sink::argument);
                yield rest(letter);
            }
        };
    }

    /** Arguments that are no JSON: they go on as they are written. */
    private Result rest(char letter) {
        if (rest == null) {
            return Result.FAILED;
        }
        Result result = rest.accept(letter);
        if (result == Result.MORE) {
            return result;
        }
        rest = null;
        return endAt(result);
    }

    /** The arguments have ended: with the literal behind them, or before it. */
    private Result endAt(Result result) {
        end();
        if (result != Result.DONE) {
            return result;
        }
        int next = position + 1;
        while (next < elements.size()
                && !(elements.get(next) instanceof Element.Literal(String text) && !text.isBlank())) {
            next++;
        }
        enter(Math.min(next + 1, elements.size()));
        return position < elements.size() ? Result.MORE : result;
    }

    private Result parameters(char letter) {
        if (parameters == null) {
            return Result.FAILED;
        }
        if (!hasStarted) {
            if (JsonText.isSpace(letter)) {
                return Result.MORE;
            }
            if (!parameters.begins(letter)) {
                return Result.FAILED;
            }
            start();
            parameters.of(name);
        }
        Result result = parameters.accept(letter);
        if (result == Result.MORE) {
            return result;
        }
        return endAt(result);
    }

    @Override
    public String leftover() {
        return parameters == null ? "" : parameters.leftover();
    }

    private void start() {
        hasStarted = true;
        sink.started(name, id);
    }

    private void end() {
        hasEnded = true;
        sink.ended();
    }

    @Override
    public void finish() {
        if (!hasStarted || hasEnded) {
            return;
        }
        if (rest != null) {
            rest.finish();
        } else if (parameters != null) {
            parameters.finish();
        } else if (value != null) {
            sink.arguments(value.unwritten());
        }
        end();
    }
}
