package roselle.jinja.filter;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import roselle.jinja.operation.PercentFormat;
import roselle.jinja.operation.TextMethods;
import roselle.jinja.operation.TextSearch;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Arguments;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Markup;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;

/** Filters that take a string, or anything as a string. */
final class TextFilters {
    private static final int TRUNCATE_LEEWAY = 5;

    static final Map<String, Builtin> ALL = new Builtin.Table()
            .text("upper", "", (_, text, _) -> Text.upper(text))
            .text("lower", "", (_, text, _) -> Text.lower(text))
            .text("capitalize", "", (_, text, _) -> Text.capitalize(text))
            .text("title", "", (_, text, _) -> title(text))
            .text("trim", "chars?", (_, text, arguments) -> Text.strip(text, TextMethods.unwanted(arguments)))
            .text(
                    "center",
                    "width?",
                    (rendering, text, arguments) -> TextMethods.center(rendering, text, arguments.integer(0, 80), " "))
            .text("wordcount", "", (_, text, _) -> wordCount(text))
            .text(
                    "replace",
                    "old new count?",
                    (rendering, text, arguments) -> TextSearch.replace(
                            rendering,
                            text,
                            PythonText.string(rendering, arguments.at(0)),
                            PythonText.string(rendering, arguments.at(1)),
                            arguments.isSet(2) ? arguments.integer(2) : -1))
            .named(
                    "string",
                    "",
                    (rendering, value, _) -> value instanceof Markup ? value : PythonText.string(rendering, value))
            .named("indent", "width? first? blank?", TextFilters::indent)
            .named("truncate", "length? killwords? end? leeway?", TextFilters::truncate)
            .raw("format", TextFilters::format)
            .build();

    private TextFilters() {}

    /** Words begin after spaces, hyphens and opening brackets. */
    private static String title(String text) {
        var titled = new StringBuilder(text.length());
        boolean begins = true;
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            i += Character.charCount(codePoint);
            boolean separates = Text.isSpace(codePoint) || "-({[<".indexOf(codePoint) >= 0;
            String character = Character.toString(codePoint);
            titled.append(begins ? Text.upper(character) : Text.lower(character));
            begins = separates;
        }
        return titled.toString();
    }

    private static long wordCount(String text) {
        long words = 0;
        boolean inWord = false;
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            int codePoint = text.codePointAt(i);
            boolean isWord = codePoint == '_' || Character.isLetterOrDigit(codePoint);
            words += isWord && !inWord ? 1 : 0;
            inWord = isWord;
        }
        return words;
    }

    private static Object indent(Rendering rendering, Object value, Bound arguments) {
        if (!Types.isText(value)) {
            throw value instanceof Undefined undefined
                    ? undefined.fault()
                    : new TemplateFault("indent needs a string, not " + Types.name(value));
        }
        String indention = arguments.has(0) && Types.isText(arguments.at(0))
                ? arguments.text(0)
                : TextMethods.pad(rendering, " ", arguments.integer(0, 4));
        boolean blank = arguments.truth(2, false);
        var lines = Text.lines(PythonText.string(rendering, value) + "\n", false);
        rendering.chargeText((long) lines.size() * indention.length());
        var result = new ArrayList<Object>();
        for (Object line : lines) {
            boolean plain = result.isEmpty() ? !arguments.truth(1, false) : !blank && line.equals("");
            result.add(plain ? line : indention + line);
        }
        return TextMethods.join(rendering, "\n", result);
    }

    private static Object truncate(Rendering rendering, Object value, Bound arguments) {
        int length = arguments.integer(0, 255);
        String end = arguments.text(2, "...");
        int leeway = arguments.isSet(3) ? arguments.integer(3) : TRUNCATE_LEEWAY;
        int keep = length - Text.length(end);
        if (keep < 0 || leeway < 0) {
            throw new TemplateFault("truncate: length must hold the end, and leeway must not be negative");
        }
        int size = Iteration.length(value);
        if (size < 0) {
            throw new TemplateFault("object of type '" + Types.name(value) + "' has no len()");
        }
        if (size <= (long) length + leeway) {
            return value;
        }
        if (!Types.isText(value)) {
            throw new TemplateFault("truncate needs a string, not " + Types.name(value));
        }
        String cut = Text.slice(PythonText.string(rendering, value), 0, keep);
        rendering.chargeText(cut.length() + (long) end.length());
        return (arguments.truth(1, false)
                        ? cut
                        : TextSearch.split(rendering, cut, " ", 1, true).getFirst())
                + end;
    }

    private static Object format(Rendering rendering, Object value, Arguments arguments) {
        if (!arguments.positional().isEmpty() && !arguments.named().isEmpty()) {
            throw new TemplateFault("format takes positional or keyword arguments, not both");
        }
        var named = new Dictionary();
        arguments.named().forEach(named::put);
        Object values = named.size() > 0 ? named : new Tuple(List.copyOf(arguments.positional()));
        return PercentFormat.format(rendering, PythonText.string(rendering, value), values);
    }
}
