package roselle.conversation;

import java.util.ArrayList;
import java.util.List;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.ThoughtFormat;

/** What the marks of a format are spelled with. */
final class ConversationFormatLiterals {
    private ConversationFormatLiterals() {}

    static List<String> of(ThoughtFormat thoughts, CallFormat calls) {
        var literals = new ArrayList<String>();
        thoughts.map(literal -> {
            literals.add(literal);
            return literal;
        });
        calls.map(literal -> {
            literals.add(literal);
            return literal;
        });
        return literals;
    }
}
