package roselle.jinja.text;

import java.io.Serial;

/** Something in a template went wrong; whoever knows the place turns it into an exception of the API. */
public final class TemplateFault extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final int at;

    public TemplateFault(String message) {
        this(message, -1);
    }

    /** A fault at an offset of the source. */
    public TemplateFault(String message, int at) {
        super(message, null, false, false);
        this.at = at;
    }

    /** The offset in the source, or -1 where the interpreter's current place is meant. */
    public int at() {
        return at;
    }
}
