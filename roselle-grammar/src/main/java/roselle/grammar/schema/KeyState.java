package roselle.grammar.schema;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;
import roselle.grammar.regex.TextLexeme;

/** In a key: the names that are left of it, and the kinds of others. */
final class KeyState extends JsonState {
    private final Shape.OfObject shape;
    private final Extras extras;
    private final KeyTexts texts;
    private final @Nullable Capture mark; // where the key begins, if others than names may come

    KeyState(
            JsonMachine machine,
            Context context,
            Shape.OfObject shape,
            Extras extras,
            KeyTexts texts,
            @Nullable Capture mark,
            @Nullable Capture capture) {
        super(machine, context, capture);
        this.shape = shape;
        this.extras = extras;
        this.texts = texts;
        this.mark = mark;
    }

    @Override
    JsonState plain() {
        return machine.key(context, shape, extras, texts, null, null);
    }

    @Override
    public boolean hangsOnContents() {
        return texts.kinds().length == 0 && super.hangsOnContents();
    }

    @Override
    boolean isRead(int octet) {
        return true;
    }

    @Override
    @Nullable
    JsonState next(int octet) {
        TextLexeme name = texts.names() == null ? null : texts.names().next(octet);
        if (name != null && name.isClosed()) {
            return machine.named(context, shape, extras, name, capture, mark, octet);
        }
        TextLexeme[] further = new TextLexeme[texts.kinds().length];
        boolean isLeft = name != null;
        for (int i = 0; i < further.length; i++) {
            TextLexeme kind = texts.kinds()[i];
            TextLexeme next = kind == null ? null : kind.next(octet);
            if (next != null && next.isClosed()) {
                return machine.other(context, shape, extras, i, capture, mark, octet);
            }
            further[i] = next;
            isLeft |= next != null;
        }
        TextLexeme other = texts.others() == null ? null : texts.others().next(octet);
        KeyTexts left = new KeyTexts(name, further, other);
        return isLeft ? machine.key(context, shape, extras, left, mark, captured(octet)) : null;
    }

    @Override
    public int branches() {
        int count = texts.names() == null ? 0 : 1;
        for (TextLexeme kind : texts.kinds()) {
            count += kind == null ? 0 : 1;
        }
        return count;
    }

    @Override
    public @Nullable Lexeme joint() {
        return texts.others();
    }

    @Override
    public int together() {
        return branches() - (texts.names() == null ? 0 : 1);
    }

    /** The kind of a branch; -1 for the names. */
    private int kindOf(int branch) {
        int left = branch - (texts.names() == null ? 0 : 1);
        if (left < 0) {
            return -1;
        }
        for (int i = 0; ; i++) {
            left -= texts.kinds()[i] == null ? 0 : 1;
            if (left < 0) {
                return i;
            }
        }
    }

    @Override
    public Lexeme lexeme(int branch) {
        int kind = kindOf(branch);
        return Objects.requireNonNull(kind < 0 ? texts.names() : texts.kinds()[kind]);
    }

    @Override
    public @Nullable State leave(int branch, Lexeme end) {
        int kind = kindOf(branch);
        synchronized (machine.lock()) {
            return kind < 0
                    ? machine.named(context, shape, extras, (TextLexeme) end, null, null, '"')
                    : machine.other(context, shape, extras, kind, null, null, '"');
        }
    }
}
