package roselle.jinja.operation;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import roselle.jinja.text.Search;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;

/** The methods of Python's str that look for one string in another. */
public final class TextSearch {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .positional("find", "sub start? end?", Builtin.onText((_, text, arguments) -> find(text, arguments, false)))
            .positional("rfind", "sub start? end?", Builtin.onText((_, text, arguments) -> find(text, arguments, true)))
            .positional(
                    "index",
                    "sub start? end?",
                    Builtin.onText((_, text, arguments) -> found(find(text, arguments, false))))
            .positional(
                    "rindex",
                    "sub start? end?",
                    Builtin.onText((_, text, arguments) -> found(find(text, arguments, true))))
            .positional("count", "sub start? end?", Builtin.onText((_, text, arguments) -> count(text, arguments)))
            .positional(
                    "startswith",
                    "prefix start? end?",
                    Builtin.onText((rendering, text, arguments) -> isAtEdge(rendering, text, arguments, true)))
            .positional(
                    "endswith",
                    "suffix start? end?",
                    Builtin.onText((rendering, text, arguments) -> isAtEdge(rendering, text, arguments, false)))
            .positional(
                    "replace",
                    "old new count?",
                    Builtin.onText((rendering, text, arguments) ->
                            replace(rendering, text, arguments.text(0), arguments.text(1), arguments.integer(2, -1))))
            .named(
                    "split",
                    "sep? maxsplit?",
                    Builtin.onText((rendering, text, arguments) -> split(rendering, text, arguments, false)))
            .named(
                    "rsplit",
                    "sep? maxsplit?",
                    Builtin.onText((rendering, text, arguments) -> split(rendering, text, arguments, true)))
            .positional("partition", "sep", Builtin.onText((_, text, arguments) -> {
                String separator = separator(arguments);
                int place = Search.of(separator).indexIn(text, 0);
                return place < 0 ? Tuple.of(text, "", "") : cut(text, place, separator);
            }))
            .positional("rpartition", "sep", Builtin.onText((_, text, arguments) -> {
                String separator = separator(arguments);
                int place = Search.of(separator).lastIndexIn(text);
                return place < 0 ? Tuple.of("", "", text) : cut(text, place, separator);
            }))
            .build();

    private TextSearch() {}

    public static String replace(Rendering rendering, String text, String old, String replacement, int most) {
        int limit = most < 0 ? Integer.MAX_VALUE : most;
        if (old.isEmpty()) {
            return interleave(rendering, text, replacement, limit);
        }
        var places = Search.of(old).places(text, limit);
        long growth = (long) places.size() * (replacement.length() - old.length());
        rendering.chargeText(text.length() + growth);
        var replaced = new StringBuilder((int) (text.length() + growth));
        int from = 0;
        for (int place : places) {
            replaced.append(text, from, place).append(replacement);
            from = place + old.length();
        }
        return replaced.append(text, from, text.length()).toString();
    }

    /** The pieces around separators; at most so many cuts, from the left or from the right. */
    public static List<Object> split(Rendering rendering, String text, String separator, int most, boolean fromRight) {
        var search = Search.of(separator);
        var places = fromRight ? search.placesFromRight(text, most) : search.places(text, most);
        rendering.chargeElements(places.size() + 1L);
        var parts = new ArrayList<>(places.size() + 1);
        int from = 0;
        for (int place : places) {
            parts.add(text.substring(from, place));
            from = place + separator.length();
        }
        parts.add(text.substring(from));
        return parts;
    }

    private static Object split(Rendering rendering, String text, Bound arguments, boolean fromRight) {
        int most = arguments.integer(1, -1);
        int cuts = most < 0 ? Integer.MAX_VALUE : most;
        if (arguments.isSet(0)) {
            return split(rendering, text, separator(arguments), cuts, fromRight);
        }
        var words = fromRight ? wordsFromRight(text, cuts) : words(text, cuts);
        rendering.chargeElements(words.size());
        return words;
    }

    private static List<Object> words(String text, int cuts) {
        var words = new ArrayList<>();
        String rest = Text.stripStart(text, Text::isSpace);
        int from = text.length() - rest.length();
        int i = from;
        while (i < text.length() && words.size() < cuts) {
            if (!Text.isSpace(text.charAt(i))) {
                i++;
                continue;
            }
            words.add(text.substring(from, i));
            while (i < text.length() && Text.isSpace(text.charAt(i))) {
                i++;
            }
            from = i;
        }
        if (from < text.length()) {
            words.add(text.substring(from));
        }
        return words;
    }

    private static List<Object> wordsFromRight(String text, int cuts) {
        var words = new ArrayList<>();
        int to = Text.stripEnd(text, Text::isSpace).length();
        int i = to;
        while (i > 0 && words.size() < cuts) {
            if (!Text.isSpace(text.charAt(i - 1))) {
                i--;
                continue;
            }
            words.add(text.substring(i, to));
            while (i > 0 && Text.isSpace(text.charAt(i - 1))) {
                i--;
            }
            to = i;
        }
        if (to > 0) {
            words.add(text.substring(0, to));
        }
        return words.reversed();
    }

    private static String separator(Bound arguments) {
        String separator = arguments.text(0);
        if (separator.isEmpty()) {
            throw new TemplateFault("the separator is empty");
        }
        return separator;
    }

    private static Tuple cut(String text, int place, String separator) {
        return Tuple.of(text.substring(0, place), separator, text.substring(place + separator.length()));
    }

    private static String interleave(Rendering rendering, String text, String replacement, int most) {
        int places = Math.min(Text.length(text) + 1, most);
        rendering.chargeText(text.length() + (long) places * replacement.length());
        var result = new StringBuilder();
        int done = 0;
        for (int i = 0; i < text.length(); ) {
            int end = i + Character.charCount(text.codePointAt(i));
            result.append(done++ < places ? replacement : "").append(text, i, end);
            i = end;
        }
        return result.append(done < places ? replacement : "").toString();
    }

    /** The part of a text that the arguments start and end name; empty is different from impossible. */
    private record Window(int start, int end) {
        static Window of(String text, Bound arguments) {
            int length = Text.length(text);
            int start = arguments.isSet(1) ? arguments.integer(1) : 0;
            int end = arguments.isSet(2) ? arguments.integer(2) : length;
            int first = (int) (start < 0 ? Math.max(0, (long) start + length) : start);
            int last = (int) (end < 0 ? Math.max(0, (long) end + length) : Math.min(end, length));
            return new Window(first, last);
        }

        boolean isPossible() {
            return start <= end;
        }

        String in(String text) {
            return Text.slice(text, start, end);
        }
    }

    private static long find(String text, Bound arguments, boolean last) {
        String wanted = arguments.text(0);
        var window = Window.of(text, arguments);
        if (!window.isPossible()) {
            return -1;
        }
        String part = window.in(text);
        var search = Search.of(wanted);
        int place = wanted.isEmpty()
                ? (last ? part.length() : 0)
                : last ? search.lastIndexIn(part) : search.indexIn(part, 0);
        return place < 0 ? -1 : window.start() + (long) part.codePointCount(0, place);
    }

    private static long found(long place) {
        if (place < 0) {
            throw new TemplateFault("substring not found");
        }
        return place;
    }

    private static long count(String text, Bound arguments) {
        String wanted = arguments.text(0);
        var window = Window.of(text, arguments);
        if (!window.isPossible()) {
            return 0;
        }
        String part = window.in(text);
        return wanted.isEmpty()
                ? Text.length(part) + 1L
                : Search.of(wanted).places(part, Integer.MAX_VALUE).size();
    }

    private static boolean isAtEdge(Rendering rendering, String text, Bound arguments, boolean start) {
        var window = Window.of(text, arguments);
        String part = window.in(text);
        var wanted = arguments.at(0) instanceof Tuple tuple ? tuple.items() : List.of((Object) arguments.text(0));
        boolean found = false;
        for (Object each : wanted) {
            if (!Types.isText(each)) {
                throw arguments.wrong(0, "a string or a tuple of strings");
            }
            rendering.step();
            String edge = PythonText.string(rendering, each);
            found |= start ? part.startsWith(edge) : part.endsWith(edge);
        }
        return found && window.isPossible();
    }
}
