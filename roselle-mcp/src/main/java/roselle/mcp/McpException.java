package roselle.mcp;

import java.io.Serial;

/** A server of the Model Context Protocol cannot be reached, or does not keep to the protocol; the message names it. */
public final class McpException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    McpException(String message, Throwable cause) {
        super(message, cause);
    }

    McpException(String message) {
        super(message);
    }
}
