package roselle.conversation.format;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import roselle.conversation.format.Element.Json;
import roselle.conversation.format.Element.Literal;
import roselle.conversation.format.Element.Name;
import roselle.conversation.format.Layout.Elements;
import roselle.conversation.format.Layout.JsonObject;
import roselle.conversation.format.Layout.Python;

/**
 * How a family of models writes calls of tools. This one description gives the parser of answers, the shape that a constraint
 * holds answers to, and the check against what the model's template writes.
 *
 * <p>Calls stand in a section: {@code section.begin call section.separator call section.end}; each part of it may be empty. A
 * call is {@code begin layout end}.
 *
 * @param name by which it is asked for
 * @param signs texts that a template of this format has, all of them; none where rendering tells, or only its name
 * @param otherBegins further spellings of what comes before a call
 * @param isBare whether an answer that begins like a call is one, without a mark; if its name is a known tool's
 */
public record CallFormat(
        String name,
        List<String> signs,
        Section section,
        String begin,
        Layout layout,
        String end,
        List<String> otherBegins,
        boolean isBare,
        CallIds ids) {
    public CallFormat {
        signs = List.copyOf(signs);
        otherBegins = List.copyOf(otherBegins);
    }

    /** What stands around all calls of an answer, and between two. */
    public record Section(String begin, String separator, String end) {
        static final Section NONE = new Section("", "", "");
    }

    /** The name of formats that are derived from a template. */
    public static final String DERIVED = "derived";

    /** Of models that call nothing. */
    public static final CallFormat NONE = of("none", "", new Elements(List.of()), "");

    /** Whether an answer names who it is for, so that its text is marked like a call. */
    public boolean namesReader() {
        return layout instanceof Elements(List<Element> elements)
                && elements.stream()
                        .anyMatch(element ->
                                element instanceof Name name && !name.text().isEmpty());
    }

    /** A JSON object for each call, between marks. */
    static CallFormat json(String name, String begin, String arguments, String end) {
        return of(name, begin, new JsonObject("name", argumentKeys(arguments), ""), end);
    }

    /** A JSON array of objects between marks. */
    static CallFormat jsonArray(String name, String begin, String arguments, String end) {
        return of(name, "", new JsonObject("name", argumentKeys(arguments), ""), "")
                .section(begin + "[", ", ", "]" + end);
    }

    private static List<String> argumentKeys(String usual) {
        var keys = new ArrayList<>(List.of(usual));
        for (String other : List.of("arguments", "parameters")) {
            if (!keys.contains(other)) {
                keys.add(other);
            }
        }
        return keys;
    }

    /** What a template was seen to write: an object for each call. */
    public static CallFormat derivedObject(
            String sectionBegin, String begin, String name, String arguments, String end) {
        boolean isMarked = !begin.isBlank();
        var object = new JsonObject(name, List.of(arguments), "");
        return of(DERIVED, isMarked ? begin : "", object, isMarked ? end : "")
                .section(sectionBegin + (isMarked ? "" : begin), isMarked ? "" : end, "");
    }

    /** What a template was seen to write: the name, then the arguments. */
    public static CallFormat derivedElements(String sectionBegin, String begin, String between, String end) {
        boolean isMarked = !begin.isBlank();
        List<Element> elements = List.of(Name.PLAIN, new Literal(between), new Json(""), new Literal(end));
        return of(DERIVED, isMarked ? begin : sectionBegin + begin, new Elements(elements), "")
                .section(isMarked ? sectionBegin : "", "", "");
    }

    /** Literals (as strings) and other elements; the first is the mark of a call. */
    static CallFormat elements(String name, String begin, Object... parts) {
        var elements = new ArrayList<Element>();
        for (Object part : parts) {
            elements.add(part instanceof Element element ? element : new Literal((String) part));
        }
        return of(name, begin, new Elements(elements), "");
    }

    /** Calls as Python writes them, between marks. */
    static CallFormat python(String name, String begin, String separator, String end) {
        return of(name, "", new Python(), "").section(begin, separator, end);
    }

    private static CallFormat of(String name, String begin, Layout layout, String end) {
        return new CallFormat(name, List.of(), Section.NONE, begin, layout, end, List.of(), false, CallIds.CALL);
    }

    CallFormat signs(String... value) {
        return new CallFormat(name, List.of(value), section, begin, layout, end, otherBegins, isBare, ids);
    }

    CallFormat section(String sectionBegin, String separator, String sectionEnd) {
        var value = new Section(sectionBegin, separator, sectionEnd);
        return new CallFormat(name, signs, value, begin, layout, end, otherBegins, isBare, ids);
    }

    /** What stands between two calls that have no section. */
    CallFormat between(String separator) {
        return section("", separator, "");
    }

    CallFormat orBegins(String... value) {
        return new CallFormat(name, signs, section, begin, layout, end, List.of(value), isBare, ids);
    }

    CallFormat bare() {
        return new CallFormat(name, signs, section, begin, layout, end, otherBegins, true, ids);
    }

    CallFormat ids(CallIds value) {
        return new CallFormat(name, signs, section, begin, layout, end, otherBegins, isBare, value);
    }

    CallFormat layout(Layout value) {
        return new CallFormat(name, signs, section, begin, value, end, otherBegins, isBare, ids);
    }

    /** The same under another name, for models that differ in it alone. */
    CallFormat named(String other) {
        return new CallFormat(other, signs, section, begin, layout, end, otherBegins, isBare, ids);
    }

    /** The same with other letters in its literals, such as one for each special token of a vocabulary. */
    public CallFormat map(UnaryOperator<String> letters) {
        return new CallFormat(
                name,
                signs,
                new Section(letters.apply(section.begin), letters.apply(section.separator), letters.apply(section.end)),
                letters.apply(begin),
                Layout.map(layout, letters),
                letters.apply(end),
                otherBegins.stream().map(letters).toList(),
                isBare,
                ids);
    }

    /** All literals of a call and of its section, and the keys of its JSON, as they are written. */
    public List<String> literals() {
        var literals = new ArrayList<String>();
        section(section.begin, "", section.end).map(literal -> {
            literals.add(literal);
            return literal;
        });
        literals.removeAll(otherBegins);
        if (layout instanceof JsonObject json && !json.name().isEmpty()) {
            literals.add('"' + json.name() + '"');
            literals.add('"' + json.arguments().getFirst() + '"');
        }
        literals.removeIf(String::isEmpty);
        return literals;
    }

    /** The marks at which calls begin, without what is between a mark and the call; none in bare formats. */
    public List<String> beginMarks() {
        var marks = new ArrayList<String>();
        for (String each : begins()) {
            String mark = mark(each);
            if (!mark.isEmpty() && !marks.contains(mark)) {
                marks.add(mark);
            }
        }
        return marks;
    }

    private List<String> begins() {
        var begins = new ArrayList<>(otherBegins);
        begins.add(begin.isBlank() ? section.begin : begin);
        return begins;
    }

    /** This format with each of its beginnings as the one that is written. */
    List<CallFormat> spellings() {
        var spellings = new ArrayList<>(List.of(this));
        for (String other : otherBegins) {
            String bracket = section.begin.endsWith("[") && !other.endsWith("[") ? "[" : "";
            String sectionBegin = begin.isBlank() ? other + bracket : section.begin;
            var inSection = new Section(sectionBegin, section.separator, section.end);
            String first = begin.isBlank() ? begin : other;
            spellings.add(new CallFormat(name, signs, inSection, first, layout, end, List.of(), isBare, ids));
        }
        return spellings;
    }

    /** What every answer that calls has first, without line breaks around it; empty in bare formats. */
    public String firstMark() {
        return mark(section.begin.isBlank() ? begin : section.begin);
    }

    /** The characters that an answer which is a call may begin with; empty in formats whose calls are marked. */
    public String bareLetters() {
        return switch (layout) {
            case JsonObject _ when isBare -> "{[";
            case Python _ when isBare -> "[";
            default -> "";
        };
    }

    /** A literal without line breaks around it, and without the bracket of a list. */
    private static String mark(String literal) {
        String mark = literal.strip();
        return mark.length() > 1 && mark.endsWith("[")
                ? mark.substring(0, mark.length() - 1)
                : mark.equals("[") ? "" : mark;
    }

    /** The mark behind a call, or behind all of them where a list has one mark; may be empty. */
    public String endMark() {
        String last = (end.isBlank() && begin.isBlank() ? section.end : end).strip();
        return withoutBracket(last);
    }

    /** A literal behind a list, without the bracket that ends it. */
    private String withoutBracket(String literal) {
        return section.begin.endsWith("[") && literal.startsWith("]")
                ? literal.substring(1).strip()
                : literal;
    }

    /** Marks that are no part of an answer's text, and that nothing follows from. */
    public List<String> silentMarks() {
        var marks = new ArrayList<String>();
        if (!begin.isBlank()) {
            addMark(section.begin, marks);
        }
        addMark(section.separator, marks);
        addMark(section.end, marks);
        addMark(end, marks);
        if (layout instanceof Elements(List<Element> elements)) {
            elements.reversed().stream()
                    .takeWhile(element -> element instanceof Literal)
                    .forEach(element -> addMark(((Literal) element).text(), marks));
        }
        marks.removeAll(beginMarks());
        return marks;
    }

    private void addMark(String literal, List<String> marks) {
        String mark = withoutBracket(literal.strip());
        if (mark.length() > 3 && !marks.contains(mark)) { // shorter ones are words of texts, too
            marks.add(mark);
        }
    }
}
