package roselle.conversation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallIds;
import roselle.conversation.format.ThoughtFormat;
import roselle.conversation.parse.Letters;
import roselle.conversation.parse.MarkFinder;

/** The marks of a format, and what each of them means where. */
final class Marks {
    /** What comes behind a mark. */
    enum Meaning {
        TEXT,
        THOUGHT,
        CALL,
        /** The same as before it. */
        SILENT
    }

    private final CallFormat calls;
    private final Map<String, Meaning> inText = new HashMap<>();
    private final Map<String, Meaning> inThought = new HashMap<>();
    private final MarkFinder textWithCalls;
    private final MarkFinder text;
    private final MarkFinder thoughtWithCalls;
    private final MarkFinder thought;

    Marks(ThoughtFormat thoughts, CallFormat calls) {
        this.calls = calls;
        List<String> always = new ArrayList<>();
        thoughts.begins().forEach(mark -> add(mark.strip(), Meaning.THOUGHT, always));
        thoughts.ends().forEach(mark -> add(mark.strip(), Meaning.SILENT, always));
        thoughts.silent().forEach(mark -> add(mark.strip(), Meaning.SILENT, always));
        List<String> withCalls = new ArrayList<>(always);
        calls.beginMarks().forEach(mark -> add(mark, Meaning.CALL, withCalls));
        calls.silentMarks().forEach(mark -> add(mark, Meaning.SILENT, withCalls));
        text = new MarkFinder(always);
        textWithCalls = new MarkFinder(withCalls);

        List<String> ends = new ArrayList<>();
        for (String end : thoughts.ends()) {
            ends.add(end.strip());
            inThought.put(end.strip(), Meaning.TEXT);
        }
        for (String begin : thoughts.begins()) { // the prompt began it, and the model does so again
            if (inThought.putIfAbsent(begin.strip(), Meaning.SILENT) == null) {
                ends.add(begin.strip());
            }
        }
        thought = new MarkFinder(ends);
        for (String begin : calls.beginMarks()) { // in words it is a thought about calls, as a token it is one
            if (Letters.isToken(begin.charAt(0)) && inThought.putIfAbsent(begin, Meaning.CALL) == null) {
                ends.add(begin);
            }
        }
        thoughtWithCalls = new MarkFinder(ends);
    }

    private void add(String mark, Meaning meaning, List<String> list) {
        if (inText.putIfAbsent(mark, meaning) == null) {
            list.add(mark);
        }
    }

    CallIds ids() {
        return calls.ids();
    }

    boolean isEmpty() {
        return text.isEmpty();
    }

    MarkFinder inText(boolean withCalls) {
        return withCalls ? textWithCalls : text;
    }

    MarkFinder inThought(boolean withCalls) {
        return withCalls ? thoughtWithCalls : thought;
    }

    Meaning meaning(String mark, boolean isInThought) {
        return (isInThought ? inThought : inText).getOrDefault(mark, Meaning.SILENT);
    }

    /** Whether a text is the beginning of a mark, and no more than that. */
    boolean isCut(String text) {
        return calls.endMark().startsWith(text) || calls.silentMarks().stream().anyMatch(mark -> mark.startsWith(text));
    }
}
