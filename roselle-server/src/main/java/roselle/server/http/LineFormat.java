package roselle.server.http;

/** A document a line, failures among them. */
public record LineFormat() implements StreamFormat {
    @Override
    public String contentType() {
        return "application/x-ndjson";
    }

    @Override
    public void begin(Utf8Buffer out, String event) {}

    /** A space before the next document, which no reader of JSON sees; the text has no place. */
    @Override
    public boolean comment(Utf8Buffer out, String text) {
        out.ascii(" ");
        return true;
    }

    @Override
    public void end(Utf8Buffer out) {
        out.ascii("\n");
    }

    @Override
    public String errorEvent() {
        return "";
    }

    @Override
    public void finish(Utf8Buffer out) {}
}
