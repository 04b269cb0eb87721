package roselle.jinja.operation;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Types;

/** The methods of Python's str. */
public final class TextMethods {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .all(TextPredicates.ALL)
            .all(TextSearch.ALL)
            .all(caseMethods())
            .all(edgeMethods())
            .all(lineMethods())
            .build();

    private TextMethods() {}

    private static Map<String, Builtin> caseMethods() {
        return new Builtin.Table()
                .positional("upper", "", Builtin.onText((_, text, _) -> Text.upper(text)))
                .positional("lower", "", Builtin.onText((_, text, _) -> Text.lower(text)))
                .positional("casefold", "", Builtin.onText((_, text, _) -> Text.lower(Text.upper(text))))
                .positional("capitalize", "", Builtin.onText((_, text, _) -> Text.capitalize(text)))
                .positional("swapcase", "", Builtin.onText((_, text, _) -> swapCase(text)))
                .positional("title", "", Builtin.onText((_, text, _) -> titleCase(text)))
                .build();
    }

    private static Map<String, Builtin> edgeMethods() {
        return new Builtin.Table()
                .positional(
                        "strip",
                        "chars?",
                        Builtin.onText((_, text, arguments) -> Text.strip(text, unwanted(arguments))))
                .positional(
                        "lstrip",
                        "chars?",
                        Builtin.onText((_, text, arguments) -> Text.stripStart(text, unwanted(arguments))))
                .positional(
                        "rstrip",
                        "chars?",
                        Builtin.onText((_, text, arguments) -> Text.stripEnd(text, unwanted(arguments))))
                .positional(
                        "removeprefix",
                        "prefix",
                        Builtin.onText((_, text, arguments) -> text.startsWith(arguments.text(0))
                                ? text.substring(arguments.text(0).length())
                                : text))
                .positional(
                        "removesuffix",
                        "suffix",
                        Builtin.onText((_, text, arguments) -> removeSuffix(text, arguments.text(0))))
                .positional(
                        "center",
                        "width fillchar?",
                        Builtin.onText((rendering, text, arguments) ->
                                center(rendering, text, arguments.integer(0), fill(arguments))))
                .positional("ljust", "width fillchar?", Builtin.onText((rendering, text, arguments) -> {
                    int missing = missing(text, arguments.integer(0));
                    return text + pad(rendering, fill(arguments), missing);
                }))
                .positional("rjust", "width fillchar?", Builtin.onText((rendering, text, arguments) -> {
                    int missing = missing(text, arguments.integer(0));
                    return pad(rendering, fill(arguments), missing) + text;
                }))
                .positional(
                        "zfill",
                        "width",
                        Builtin.onText((rendering, text, arguments) -> zeroFill(rendering, text, arguments.integer(0))))
                .build();
    }

    private static Map<String, Builtin> lineMethods() {
        return new Builtin.Table()
                .named("splitlines", "keepends?", Builtin.onText((rendering, text, arguments) -> {
                    var lines = Text.lines(text, arguments.truth(0, false));
                    rendering.chargeElements(lines.size());
                    return lines;
                }))
                .named(
                        "expandtabs",
                        "tabsize?",
                        Builtin.onText(
                                (rendering, text, arguments) -> expandTabs(rendering, text, arguments.integer(0, 8))))
                .positional(
                        "join",
                        "iterable",
                        Builtin.onText((rendering, text, arguments) ->
                                join(rendering, text, Iteration.list(rendering, arguments.at(0)))))
                .raw(
                        "format",
                        (rendering, subject, arguments) ->
                                BraceFormat.format(rendering, PythonText.string(rendering, subject), arguments))
                .build();
    }

    public static IntPredicate unwanted(Bound arguments) {
        if (!arguments.isSet(0)) {
            return Text::isSpace;
        }
        var unwanted = new BitSet();
        arguments.text(0).codePoints().forEach(unwanted::set);
        return unwanted::get;
    }

    public static String join(Rendering rendering, String separator, List<Object> parts) {
        long length = (long) separator.length() * Math.max(0, parts.size() - 1);
        var texts = new ArrayList<String>(parts.size());
        for (Object part : parts) {
            if (!Types.isText(part)) {
                throw new TemplateFault(
                        "sequence item " + texts.size() + ": expected str instance, " + Types.name(part) + " found");
            }
            String text = PythonText.string(rendering, part);
            length += text.length();
            texts.add(text);
        }
        rendering.chargeText(length);
        return String.join(separator, texts);
    }

    public static String center(Rendering rendering, String text, int width, String fill) {
        int missing = missing(text, width);
        int left = missing / 2 + (missing & width & 1);
        return pad(rendering, fill, left) + text + pad(rendering, fill, missing - left);
    }

    public static String pad(Rendering rendering, String fill, int count) {
        rendering.chargeText((long) fill.length() * Math.max(count, 0));
        return fill.repeat(Math.max(count, 0));
    }

    private static int missing(String text, int width) {
        return Math.max(0, width - Text.length(text));
    }

    private static String fill(Bound arguments) {
        String fill = arguments.text(1, " ");
        if (Text.length(fill) != 1) {
            throw new TemplateFault("the fill character must be exactly one character long");
        }
        return fill;
    }

    private static String removeSuffix(String text, String suffix) {
        return !suffix.isEmpty() && text.endsWith(suffix) ? text.substring(0, text.length() - suffix.length()) : text;
    }

    private static String zeroFill(Rendering rendering, String text, int width) {
        String zeros = pad(rendering, "0", missing(text, width));
        boolean signed = text.startsWith("-") || text.startsWith("+");
        return signed ? text.charAt(0) + zeros + text.substring(1) : zeros + text;
    }

    private static String expandTabs(Rendering rendering, String text, int size) {
        var expanded = new StringBuilder();
        int column = 0;
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            i += Character.charCount(codePoint);
            if (codePoint == '\t') {
                int spaces = size > 0 ? size - column % size : 0;
                expanded.append(pad(rendering, " ", spaces));
                rendering.chargeText(expanded.length() / 16);
                column += spaces;
            } else {
                expanded.appendCodePoint(codePoint);
                column = codePoint == '\n' || codePoint == '\r' ? 0 : column + 1;
            }
        }
        return expanded.toString();
    }

    private static String swapCase(String text) {
        var swapped = new StringBuilder(text.length());
        text.codePoints().forEach(codePoint -> {
            String character = Character.toString(codePoint);
            swapped.append(Character.isUpperCase(codePoint) ? Text.lower(character) : Text.upper(character));
        });
        return swapped.toString();
    }

    private static String titleCase(String text) {
        var titled = new StringBuilder(text.length());
        boolean inWord = false;
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            i += Character.charCount(codePoint);
            String character = Character.toString(codePoint);
            titled.append(inWord ? Text.lower(character) : Text.title(character));
            inWord = TextPredicates.isCased(codePoint);
        }
        return titled.toString();
    }
}
