package roselle.server.http;

/**
 * Writes one JSON document: objects, arrays and values in the order in which they are to stand.
 *
 * <p>Commas, quotes and escapes are its own; a name without a value, a value where a name must be, and a bracket that closes
 * another kind are defects of the caller, which it refuses. Documents that begin alike can share an {@link Opening}. Not
 * thread-safe.
 *
 * {@snippet :
 * new JsonWriter().object().field("id", id).array("data").value(1).endArray().endObject()
 * }
 */
public final class JsonWriter {
    private static final int DEEPEST = 63; // a bit for each level in a long

    private final Utf8Buffer out;
    private long objects; // bit n: level n is an object, not an array
    private long filled; // bit n: level n has a member or an element, so that a comma must come before the next
    private int depth;
    private boolean hasName; // whose value comes next
    private boolean hasBegun;

    /** What documents begin with that are alike up to some point. */
    public static final class Opening {
        private final byte[] bytes;
        private final long objects;
        private final long filled;
        private final int depth;

        private Opening(JsonWriter begun) {
            bytes = begun.out.toBytes();
            objects = begun.objects;
            filled = begun.filled;
            depth = begun.depth;
        }
    }

    public JsonWriter() {
        this(new Utf8Buffer());
    }

    /** A document that follows what {@code out} has. */
    JsonWriter(Utf8Buffer out) {
        this.out = out;
    }

    // ---- structure ----

    public JsonWriter object() {
        return open(true, '{');
    }

    /** An object as a member. */
    public JsonWriter object(String name) {
        return name(name).object();
    }

    public JsonWriter endObject() {
        return close(true, '}');
    }

    public JsonWriter array() {
        return open(false, '[');
    }

    /** An array as a member. */
    public JsonWriter array(String name) {
        return name(name).array();
    }

    public JsonWriter endArray() {
        return close(false, ']');
    }

    /** The name of a member, whose value must follow. */
    public JsonWriter name(String name) {
        require(isInObject() && !hasName, "a name");
        separate();
        quoted(name).ascii(':');
        hasName = true;
        return this;
    }

    // ---- values ----

    public JsonWriter value(String text) {
        beforeValue();
        quoted(text);
        return this;
    }

    public JsonWriter value(long number) {
        return plain(Long.toString(number));
    }

    public JsonWriter value(float number) {
        if (!Float.isFinite(number)) {
            throw new IllegalArgumentException("JSON has no " + number);
        }
        return plain(Float.toString(number));
    }

    public JsonWriter value(double number) {
        if (!Double.isFinite(number)) {
            throw new IllegalArgumentException("JSON has no " + number);
        }
        return plain(Double.toString(number));
    }

    public JsonWriter value(boolean truth) {
        return plain(Boolean.toString(truth));
    }

    public JsonWriter nullValue() {
        return plain("null");
    }

    /** A value that is JSON already, in UTF-8. */
    public JsonWriter json(byte[] value) {
        beforeValue();
        out.utf8(value);
        return this;
    }

    // ---- members ----

    public JsonWriter field(String name, String text) {
        return name(name).value(text);
    }

    public JsonWriter field(String name, long number) {
        return name(name).value(number);
    }

    public JsonWriter field(String name, float number) {
        return name(name).value(number);
    }

    public JsonWriter field(String name, double number) {
        return name(name).value(number);
    }

    public JsonWriter field(String name, boolean truth) {
        return name(name).value(truth);
    }

    public JsonWriter nullField(String name) {
        return name(name).nullValue();
    }

    /** A text, or {@code null} for an empty one. */
    public JsonWriter fieldOrNull(String name, String text) {
        return text.isEmpty() ? nullField(name) : field(name, text);
    }

    // ---- documents ----

    /** What was written so far, for other documents to begin with. */
    public Opening opening() {
        require(!hasName, "an opening");
        return new Opening(this);
    }

    /** Begins the document as another one began. */
    public JsonWriter begin(Opening opening) {
        require(!hasBegun, "an opening");
        hasBegun = true;
        out.utf8(opening.bytes);
        objects = opening.objects;
        filled = opening.filled;
        depth = opening.depth;
        return this;
    }

    /** Begins another document in the same buffer, whatever became of the one before. */
    JsonWriter restart() {
        depth = 0;
        hasName = false;
        hasBegun = false;
        return this;
    }

    /** Refuses a document that has not come to its end. */
    void requireComplete() {
        require(hasBegun && depth == 0, "the end of the document");
    }

    public byte[] toBytes() {
        requireComplete();
        return out.toBytes();
    }

    /** What was written so far. */
    @Override
    public String toString() {
        return out.toString();
    }

    private JsonWriter plain(String ascii) {
        beforeValue();
        out.ascii(ascii);
        return this;
    }

    private Utf8Buffer quoted(String text) {
        return out.ascii('"').escaped(text).ascii('"');
    }

    private JsonWriter open(boolean isObject, char bracket) {
        beforeValue();
        require(depth < DEEPEST, "another level");
        out.ascii(bracket);
        depth++;
        long level = 1L << depth;
        objects = isObject ? objects | level : objects & ~level;
        filled &= ~level;
        return this;
    }

    private JsonWriter close(boolean isObject, char bracket) {
        require(
                depth > 0 && !hasName && isInObject() == isObject,
                isObject ? "the end of an object" : "the end of an array");
        out.ascii(bracket);
        depth--;
        return this;
    }

    private void beforeValue() {
        require(hasName || (depth == 0 ? !hasBegun : !isInObject()), "a value");
        if (depth > 0 && !hasName) {
            separate();
        }
        hasName = false;
        hasBegun = true;
    }

    private void separate() {
        long level = 1L << depth;
        if ((filled & level) != 0) {
            out.ascii(',');
        }
        filled |= level;
    }

    private boolean isInObject() {
        return depth > 0 && (objects >> depth & 1) != 0;
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what + " cannot stand here: " + out);
        }
    }
}
