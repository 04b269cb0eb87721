package roselle.jinja.filter;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Map;
import roselle.jinja.operation.TextMethods;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Bound;
import roselle.jinja.value.Builtin;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Iteration;
import roselle.jinja.value.Markup;
import roselle.jinja.value.None;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;
import roselle.jinja.value.View;

/** Filters for markup and addresses. */
final class MarkupFilters {
    static final Map<String, Builtin> ALL = new Builtin.Table()
            .named("escape", "", (rendering, value, _) -> value instanceof Markup ? value : escaped(rendering, value))
            .alias("e", "escape")
            .named("forceescape", "", (rendering, value, _) -> escaped(rendering, value))
            .named("safe", "", (rendering, value, _) -> new Markup(PythonText.string(rendering, value)))
            .text("striptags", "", (rendering, text, _) -> stripTags(rendering, text))
            .named("urlencode", "", (rendering, value, _) -> urlEncode(rendering, value))
            .named("xmlattr", "autospace?", MarkupFilters::attributes)
            .build();

    private static final Map<String, String> ENTITIES =
            Map.of("amp", "&", "lt", "<", "gt", ">", "quot", "\"", "apos", "'", "nbsp", "\u00a0");

    private MarkupFilters() {}

    private static Markup escaped(Rendering rendering, Object value) {
        String text = PythonText.string(rendering, value);
        String escaped = Markup.escape(text);
        rendering.chargeText(escaped.length());
        return new Markup(escaped);
    }

    private static String stripTags(Rendering rendering, String text) {
        String plain = without(rendering, without(rendering, text, "<!--", "-->"), "<", ">");
        var words = new ArrayList<String>();
        var word = new StringBuilder();
        for (int i = 0; i < plain.length(); i++) {
            if (!Text.isSpace(plain.charAt(i))) {
                word.append(plain.charAt(i));
            } else if (!word.isEmpty()) {
                words.add(word.toString());
                word.setLength(0);
            }
        }
        if (!word.isEmpty()) {
            words.add(word.toString());
        }
        return unescape(String.join(" ", words));
    }

    private static String without(Rendering rendering, String text, String open, String close) {
        String rest = text;
        for (int start = rest.indexOf(open); start >= 0; start = rest.indexOf(open)) {
            int end = rest.indexOf(close, start);
            if (end < 0) {
                break;
            }
            rendering.chargeText(rest.length());
            rest = rest.substring(0, start) + rest.substring(end + close.length());
        }
        return rest;
    }

    private static String unescape(String text) {
        var result = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            int end = text.charAt(i) == '&'
                    ? text.substring(i, Math.min(text.length(), i + 12)).indexOf(';')
                    : -1;
            String character = end < 0 ? "" : entity(text.substring(i + 1, i + end));
            result.append(character.isEmpty() ? String.valueOf(text.charAt(i)) : character);
            i += character.isEmpty() ? 0 : end;
        }
        return result.toString();
    }

    private static String entity(String name) {
        if (!name.startsWith("#")) {
            return ENTITIES.getOrDefault(name, "");
        }
        boolean isHexadecimal = name.startsWith("#x") || name.startsWith("#X");
        String digits = name.substring(isHexadecimal ? 2 : 1);
        try {
            int code = Integer.parseInt(digits, isHexadecimal ? 16 : 10);
            return Character.isValidCodePoint(code) ? Character.toString(code) : "";
        } catch (NumberFormatException _) {
            return "";
        }
    }

    private static String urlEncode(Rendering rendering, Object value) {
        if (Types.isText(value) || !Iteration.isIterable(value)) {
            return quoted(rendering, value, false);
        }
        var pairs = new ArrayList<Object>();
        var members = value instanceof Dictionary dictionary ? new View("items", dictionary.items()) : value;
        for (var each = Iteration.over(rendering, members); each.hasNext(); ) {
            var pair = Iteration.list(rendering, each.next());
            if (pair.size() != 2) {
                throw new TemplateFault("urlencode needs pairs of names and values");
            }
            pairs.add(quoted(rendering, pair.get(0), true) + "=" + quoted(rendering, pair.get(1), true));
        }
        return TextMethods.join(rendering, "&", pairs);
    }

    private static String quoted(Rendering rendering, Object value, boolean isQuery) {
        byte[] bytes = PythonText.string(rendering, value).getBytes(StandardCharsets.UTF_8);
        rendering.chargeText(3L * bytes.length);
        var quoted = new StringBuilder();
        for (byte each : bytes) {
            char unit = (char) (each & 0xff);
            boolean plain = (unit < 128 && Character.isLetterOrDigit(unit)) || "_.-~".indexOf(unit) >= 0;
            if (plain || (unit == '/' && !isQuery)) {
                quoted.append(unit);
            } else if (unit == ' ' && isQuery) {
                quoted.append('+');
            } else {
                quoted.append(String.format("%%%02X", (int) unit));
            }
        }
        return quoted.toString();
    }

    private static Object attributes(Rendering rendering, Object value, Bound arguments) {
        if (!(value instanceof Dictionary dictionary)) {
            throw new TemplateFault("xmlattr needs a mapping, not " + Types.name(value));
        }
        var parts = new ArrayList<Object>();
        for (var entry : dictionary.entries()) {
            if (entry.value() == None.NONE || entry.value() instanceof Undefined) {
                continue;
            }
            String name = PythonText.string(rendering, entry.key());
            if (name.chars().anyMatch(unit -> unit == '/' || unit == '>' || unit == '=' || Text.isSpace(unit))) {
                throw new TemplateFault("invalid character in the attribute name " + Types.brief(name));
            }
            parts.add(Markup.escape(name) + "=\""
                    + escaped(rendering, entry.value()).text() + "\"");
        }
        String text = TextMethods.join(rendering, " ", parts);
        return arguments.truth(0, true) && !text.isEmpty() ? " " + text : text;
    }
}
