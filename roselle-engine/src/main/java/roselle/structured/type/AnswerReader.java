package roselle.structured.type;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.api.type.PartialValue;
import roselle.api.type.TypedEvent;
import roselle.api.type.TypedEvent.FieldDelta;
import roselle.api.type.TypedEvent.FieldDone;
import roselle.api.type.TypedEvent.FieldStarted;
import roselle.structured.type.Frame.Slot;
import roselle.structured.type.TypeNode.Absentable;
import roselle.structured.type.TypeNode.Choice;
import roselle.structured.type.TypeNode.Elements;
import roselle.structured.type.TypeNode.Entries;
import roselle.structured.type.TypeNode.RecordNode;
import roselle.structured.type.TypeNode.Scalar;

/**
 * Reads an answer into its type while it is written. The same pass makes the value, tells of its fields, and knows what there is of
 * a value that is not complete; where the text is cut into pieces changes nothing but the pieces of strings. For one thread.
 *
 * @param <T> the type
 */
public final class AnswerReader<T> {
    private final JsonScanner scanner = new JsonScanner(new Builder());
    private final Slot root;
    private final Consumer<TypedEvent> events;
    private final Deque<Frame> open = new ArrayDeque<>();
    private Slot now; // of the value that was begun last
    private boolean isInText;
    private boolean isDone;
    private @Nullable Object value;

    AnswerReader(TypeNode type, Consumer<TypedEvent> events) {
        root = new Slot(type, "");
        now = root;
        this.events = events;
    }

    /**
     * Reads what follows.
     *
     * @throws UnreadableException if it is no value of the type; nothing can be read any more
     */
    public void accept(String piece) {
        scanner.accept(piece);
    }

    /**
     * Ends a number that is the whole answer: without that it might go on.
     *
     * @throws UnreadableException if it is none of the type
     */
    public void finish() {
        scanner.finish();
    }

    /** Whether the value is complete. */
    public boolean isComplete() {
        return isDone;
    }

    /** The value, once it is complete. */
    @SuppressWarnings({"unchecked", "NullAway"}) // the type's nodes make nothing else; no type is null as a whole
    public T value() {
        if (!isDone) {
            throw new IllegalStateException("the answer is not complete");
        }
        return (T) value;
    }

    /** The path of the field that is being written, or that was written last. */
    public String path() {
        return now.path();
    }

    /** What there is of the value; takes time in proportion to it. */
    public PartialValue partial() {
        if (isDone) {
            return new PartialValue.Whole(value);
        }
        PartialValue partial = isInText ? new PartialValue.Text(scanner.begun()) : new PartialValue.Nothing();
        for (Frame frame : open) {
            partial = frame.partial(partial);
        }
        return partial;
    }

    private static TypeNode present(TypeNode node) {
        return node instanceof Absentable absentable ? absentable.inner() : node;
    }

    /** What is met, as values. */
    private final class Builder implements JsonScanner.Listener {
        /** Begins the next value. */
        private TypeNode begin() {
            Frame frame = open.peek();
            now = frame == null ? root : frame.slot();
            events.accept(new FieldStarted(now.path()));
            return present(now.node());
        }

        private UnreadableException mismatch(String what) {
            return new UnreadableException(now.path(), what + " is not expected here");
        }

        @Override
        public RuntimeException malformed(String what) {
            return new UnreadableException(now.path(), what);
        }

        @Override
        public void beginObject() {
            open.push(
                    switch (begin()) {
                        case RecordNode record -> new Frame.OfRecord(now, record, "");
                        case Choice choice -> new Frame.OfChoice(now, choice);
                        case Entries entries -> new Frame.OfEntries(now, entries);
                        case Scalar _, Elements _, Absentable _ -> throw mismatch("an object");
                    });
        }

        @Override
        public void name(String name) {
            open.element().name(name);
        }

        @Override
        public void endObject() {
            close();
        }

        @Override
        public void beginArray() {
            if (!(begin() instanceof Elements elements)) {
                throw mismatch("an array");
            }
            open.push(new Frame.OfElements(now, elements));
        }

        @Override
        public void endArray() {
            close();
        }

        private void close() {
            Frame closed = open.pop();
            now = closed.place();
            add(closed.close());
        }

        @Override
        public void beginText() {
            if (!(begin() instanceof Scalar scalar && scalar.isText())) {
                throw mismatch("a string");
            }
            isInText = true;
        }

        @Override
        public void text(String part) {
            if (scalar().isToldInParts()) {
                events.accept(new FieldDelta(now.path(), part));
            }
        }

        @Override
        public void endText(String whole) {
            isInText = false;
            add(read(whole));
        }

        @Override
        public void beginWord() {
            begin();
        }

        @Override
        public void word(String word) {
            if (word.equals("null") && now.node() instanceof Absentable absentable) {
                done(absentable.absent());
                return;
            }
            if (!(present(now.node()) instanceof Scalar scalar) || scalar.isText()) {
                throw mismatch(word);
            }
            add(read(word));
        }

        private Scalar scalar() {
            return (Scalar) present(now.node());
        }

        private Object read(String written) {
            try {
                return scalar().read().apply(written);
            } catch (RuntimeException refused) {
                throw new UnreadableException(now.path(), refused);
            }
        }

        /** A value is there, which is not null in JSON. */
        private void add(Object present) {
            done(
                    now.node() instanceof Absentable absentable
                            ? absentable.present().apply(present)
                            : present);
        }

        private void done(@Nullable Object read) {
            events.accept(new FieldDone(now.path(), read));
            Frame frame = open.peek();
            if (frame == null) {
                value = read;
                isDone = true;
                return;
            }
            Frame next = frame.add(read);
            if (next != frame) {
                open.pop();
                open.push(next);
            }
        }
    }
}
