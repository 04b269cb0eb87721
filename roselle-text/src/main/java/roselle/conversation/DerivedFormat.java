package roselle.conversation;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import roselle.conversation.format.CallFormat;

/**
 * The format of a template that is none of the known: what stands around the names and the arguments of calls that the template
 * was made to write. Only formats with JSON and with a mark before each call, or before all of them, can be derived so.
 */
final class DerivedFormat {
    private static final String SPACE = "[ \\n\\t]{0,8}";

    /** An object with a name and with arguments that are an object. */
    private static final Pattern OBJECT = Pattern.compile("\\{" + SPACE + "(?:\"\\w{1,32}\":" + SPACE
            + "\"[^\"{}]{0,64}\"," + SPACE + "){0,2}\"(\\w{1,32})\":" + SPACE + "\"" + TemplateProbe.FIRST + "\","
            + SPACE
            + "\"(\\w{1,32})\":" + SPACE + "\\{");

    private static final Pattern ARGUMENTS = Pattern.compile("\\{" + SPACE + "\"color\"");

    private DerivedFormat() {}

    /** The format that reads what the template has written, if one can be derived. */
    static Optional<CallFormat> of(TemplateProbe probe) {
        return probe.calls().size() == 2 ? derived(probe).filter(probe::isRead) : Optional.empty();
    }

    private static Optional<CallFormat> derived(TemplateProbe probe) {
        Matcher object = OBJECT.matcher(probe.answer());
        if (object.find()) {
            return around(probe.answer(), object.start(), object.end() - 1, true)
                    .map(marks -> CallFormat.derivedObject(
                            marks.sectionBegin, marks.begin, object.group(1), object.group(2), marks.end));
        }
        int name = probe.answer().indexOf(TemplateProbe.FIRST);
        Matcher arguments = ARGUMENTS.matcher(probe.answer());
        if (!arguments.find(name)) {
            return Optional.empty();
        }
        String between = probe.answer().substring(name + TemplateProbe.FIRST.length(), arguments.start());
        return around(probe.answer(), name, arguments.start(), false)
                .filter(_ -> !between.isEmpty() && between.length() < 64)
                .map(marks -> CallFormat.derivedElements(marks.sectionBegin, marks.begin, between, marks.end));
    }

    /** What stands around a call. */
    private record Around(String sectionBegin, String begin, String end) {}

    /** Compares what is before the first call with what is between both. */
    private static Optional<Around> around(String answer, int call, int arguments, boolean isObject) {
        String before = answer.substring(0, call);
        int end = endOfObject(answer, arguments);
        int close = isObject && end >= 0 ? answer.indexOf('}', end) + 1 : end;
        int second = isObject ? nextObject(answer, close) : answer.indexOf(TemplateProbe.SECOND, Math.max(end, 0));
        if (end < 0 || close <= 0 || second < close) {
            return Optional.empty();
        }
        String between = answer.substring(close, second);
        int shared = 0;
        while (shared < Math.min(before.length(), between.length())
                && before.charAt(before.length() - 1 - shared) == between.charAt(between.length() - 1 - shared)) {
            shared++;
        }
        String begin = before.substring(before.length() - shared);
        String sectionBegin = before.substring(0, before.length() - shared);
        boolean isMarked = !(sectionBegin + begin).isBlank() && !before.strip().equals("[");
        return isMarked
                ? Optional.of(new Around(sectionBegin, begin, between.substring(0, between.length() - shared)))
                : Optional.empty();
    }

    private static int nextObject(String answer, int from) {
        int name = answer.indexOf("\"" + TemplateProbe.SECOND + "\"", from);
        return name < 0 ? -1 : answer.lastIndexOf('{', name);
    }

    /** Behind the object that begins at a position; −1 if it does not end. */
    private static int endOfObject(String text, int begin) {
        int depth = 0;
        boolean isText = false;
        for (int position = begin; position < text.length(); position++) {
            char letter = text.charAt(position);
            if (isText && letter == '\\') {
                position++;
            } else if (letter == '"') {
                isText = !isText;
            } else if (!isText && letter == '{') {
                depth++;
            } else if (!isText && letter == '}' && --depth == 0) {
                return position + 1;
            }
        }
        return -1;
    }
}
