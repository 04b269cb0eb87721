package roselle.server.http;

/**
 * Server-sent events, each document the data of one.
 *
 * @param errorEvent the event whose data is an error, or empty
 * @param endMark the data of a last event that is no document, or empty
 */
public record SseFormat(String errorEvent, String endMark) implements StreamFormat {
    private static final String DATA = "data: ";
    private static final String END = "\n\n";

    @Override
    public String contentType() {
        return "text/event-stream; charset=utf-8";
    }

    @Override
    public void begin(Utf8Buffer out, String event) {
        if (!event.isEmpty()) {
            out.ascii("event: ").ascii(event).ascii("\n");
        }
        out.ascii(DATA);
    }

    @Override
    public boolean comment(Utf8Buffer out, String text) {
        out.ascii(": ").escaped(text).ascii(END);
        return true;
    }

    @Override
    public void end(Utf8Buffer out) {
        out.ascii(END);
    }

    @Override
    public void finish(Utf8Buffer out) {
        if (!endMark.isEmpty()) {
            out.ascii(DATA).ascii(endMark).ascii(END);
        }
    }
}
