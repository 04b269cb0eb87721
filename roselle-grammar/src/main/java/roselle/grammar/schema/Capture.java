package roselle.grammar.schema;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Bytes that have been read and will be wanted: keys that no schema names, items that must differ. The last byte comes first. */
record Capture(@Nullable Capture before, byte octet, int length) {
    /** Before the first byte. */
    static final Capture START = new Capture(null, (byte) 0, 0);

    Capture with(int next) {
        return new Capture(this, (byte) next, length + 1);
    }

    /** What was read behind a mark. */
    String since(Capture mark) {
        byte[] bytes = new byte[length - mark.length];
        Capture at = this;
        for (int i = bytes.length - 1; i >= 0 && at != null; i--) {
            bytes[i] = at.octet;
            at = at.before;
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
