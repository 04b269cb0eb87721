package roselle.conversation.parse;

import java.util.List;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.Element;
import roselle.conversation.format.Layout;

/** Readers of the calls of one format, for the tools of one request. */
public final class CallReaders {
    private final CallFormat format;
    private final ToolTypes tools;

    public CallReaders(CallFormat format, ToolTypes tools) {
        this.format = format;
        this.tools = tools;
    }

    /** A reader of what is behind a mark of a call. */
    public CallReader marked(CallSink sink) {
        return reader(sink, false);
    }

    /** A reader of an answer that begins without a mark, and may be a call. */
    public CallReader bare(CallSink sink) {
        return reader(sink, true);
    }

    private CallReader reader(CallSink sink, boolean isBare) {
        return switch (format.layout()) {
            case Layout.JsonObject json -> new JsonCallsReader(json, format.endMark(), isBare ? tools : null, sink);
            case Layout.Elements(List<Element> elements) -> new ElementsReader(elements, tools, sink);
            case Layout.Python _ -> new PythonReader(format.endMark(), tools, isBare, sink);
        };
    }

    /** Whether an answer may be a call that begins with this character, in formats without a mark. */
    public boolean mayBegin(char letter) {
        return format.bareLetters().indexOf(letter) >= 0;
    }
}
