package roselle.conversation.format;

import java.util.List;
import java.util.function.UnaryOperator;

/** One part of a written call. Line breaks and spaces around literals are what templates write; they may be missing. */
public sealed interface Element {
    /** A text that is always there. */
    record Literal(String text) implements Element {}

    /**
     * The name of the tool, up to the literal that follows.
     *
     * @param prefix before the name, and no part of it; may be missing
     * @param index before the call's number, behind the name; with it the whole is the id of the call. Empty for none
     * @param text what stands instead of a name where no tool is called, but text follows; empty for none
     */
    record Name(String prefix, String index, String text) implements Element {
        static final Name PLAIN = new Name("", "", "");
    }

    /** The id of the call, which the model writes. */
    record Id() implements Element {}

    /** Words that say nothing, up to the literal that follows: the type of a call, the name of its server. */
    record Ignored(String usual) implements Element {}

    /** Parts that may be missing together; the first is a literal. */
    record Maybe(String literal, Element then) implements Element {}

    /**
     * The arguments as one JSON object.
     *
     * @param quote around texts instead of quotation marks, with keys bare; empty in JSON
     */
    record Json(String quote) implements Element {}

    /**
     * The arguments one by one, each value as text.
     *
     * @param begin before a key
     * @param keyEnd behind it
     * @param values what may come before a value, and what that says of its type
     * @param end behind a value
     * @param onLines whether a value stands on lines of its own
     */
    record Parameters(String begin, String keyEnd, List<ValueBegin> values, String end, boolean onLines)
            implements Element {
        public Parameters {
            values = List.copyOf(values);
        }
    }

    /**
     * The arguments as elements that their keys name, {@code <key>} value {@code </key>}: an object's members are elements within, a
     * list's items too, each called {@code item}.
     *
     * @param namespace before each beginning and each end, and in no text
     */
    record Tags(String namespace) implements Element {}

    /**
     * The arguments as elements of one name that tell the key, and the type of the value: {@code raw} for a text as it is, {@code
     * json}, {@code dict} and {@code list}, which have such elements within; a list's have no key. In keys, characters of markup are
     * entities.
     *
     * @param begin before the attributes
     * @param end behind a value, and not in a text
     */
    record Values(String begin, String end) implements Element {
        /** A key as it is written. */
        public static String escaped(String key) {
            return key.replace("&", "&amp;")
                    .replace("<", "&lt;")
                    .replace(">", "&gt;")
                    .replace("\"", "&quot;");
        }

        /** What a key is that is written so. */
        public static String unescaped(String written) {
            return written.replace("&quot;", "\"")
                    .replace("&gt;", ">")
                    .replace("&lt;", "<")
                    .replace("&amp;", "&");
        }
    }

    /** What comes before a value; may be empty where there is one alone. */
    record ValueBegin(String text, ValueType type) {
        /** Whether a value of a type may follow; some name the type in so many words. */
        boolean mayBe(String typeName) {
            return !text.startsWith("type=") || text.contains('"' + typeName + '"');
        }
    }

    /** What is known of a value before it is read. */
    enum ValueType {
        /** What the tool's schema says. */
        BY_SCHEMA,
        TEXT,
        JSON
    }

    /** The same with other letters in its literals. */
    static Element map(Element element, UnaryOperator<String> letters) {
        return switch (element) {
            case Literal(String text) -> new Literal(letters.apply(text));
            case Maybe(String literal, Element then) -> new Maybe(letters.apply(literal), map(then, letters));
            case Json(String quote) -> new Json(letters.apply(quote));
            case Parameters given ->
                new Parameters(
                        letters.apply(given.begin()),
                        letters.apply(given.keyEnd()),
                        given.values().stream()
                                .map(value -> new ValueBegin(letters.apply(value.text()), value.type()))
                                .toList(),
                        letters.apply(given.end()),
                        given.onLines());
            case Tags(String namespace) -> new Tags(letters.apply(namespace));
            case Values(String begin, String end) -> new Values(letters.apply(begin), letters.apply(end));
            case Name name -> name;
            case Id id -> id;
            case Ignored ignored -> ignored;
        };
    }
}
