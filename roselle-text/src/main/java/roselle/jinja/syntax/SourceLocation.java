package roselle.jinja.syntax;

import roselle.api.InvalidRequestException;
import roselle.jinja.text.TemplateFault;

/**
 * Turns offsets of a source into what people call a place.
 *
 * @param name what the template is called
 */
public record SourceLocation(String name, String source) {
    private static final int MESSAGE_CHARACTERS = 1_000;

    /** The exception for a fault; {@code current} is the place where a fault without place happened. */
    public InvalidRequestException exception(TemplateFault fault, int current) {
        int offset = Math.clamp(fault.at() < 0 ? current : fault.at(), 0, source.length());
        String message = String.valueOf(fault.getMessage());
        String cut = message.length() > MESSAGE_CHARACTERS ? message.substring(0, MESSAGE_CHARACTERS) + "..." : message;
        return new InvalidRequestException(
                "template '" + name + "', line " + line(offset) + ", column " + column(offset) + ": " + cut);
    }

    private int line(int offset) {
        return 1
                + (int) source.substring(0, offset)
                        .chars()
                        .filter(unit -> unit == '\n')
                        .count();
    }

    private int column(int offset) {
        return offset - source.lastIndexOf('\n', offset - 1);
    }
}
