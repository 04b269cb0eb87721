package roselle.grammar.schema;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;
import roselle.grammar.regex.TextLexeme;

/** Where a text stands in a schema's language. Subclasses say what may come; all remember where each byte led. */
abstract sealed class JsonState implements State
        permits JsonState.End,
                JsonState.Exit,
                JsonState.Value,
                JsonState.Text,
                KeyState,
                JsonState.InObject,
                JsonState.InArray {
    private static final Edges NO_EDGES = new Edges(new int[0], new JsonState[0]);

    /** Where bytes led that were asked for. */
    @SuppressWarnings("ArrayRecordComponent") // replaced whole, never changed; never compared
    private record Edges(int[] octets, @Nullable JsonState[] targets) {}

    final JsonMachine machine;
    final Context context;
    final @Nullable Capture capture;
    private volatile Edges edges = NO_EDGES;

    JsonState(JsonMachine machine, Context context, @Nullable Capture capture) {
        this.machine = machine;
        this.context = context;
        this.capture = capture;
    }

    @Override
    public final @Nullable State advance(int octet) {
        return step(octet);
    }

    final @Nullable JsonState step(int octet) {
        if (!isRead(octet)) {
            return null;
        }
        Edges known = edges;
        int[] octets = known.octets;
        for (int i = 0; i < octets.length; i++) {
            if (octets[i] == octet) {
                return known.targets[i];
            }
        }
        return compute(octet);
    }

    /** Whether some text may have the byte here; false for most bytes between parts. */
    boolean isRead(int octet) {
        return reading().has(octet);
    }

    /** What may come between parts. */
    Reading reading() {
        return Reading.BLANKS;
    }

    @Override
    public int @Nullable [] octets() {
        return branches() == 0 ? reading().octets : null;
    }

    @Override
    public final State twin() {
        if (capture == null) {
            return this;
        }
        synchronized (machine.lock()) {
            return plain();
        }
    }

    @Override
    public final boolean hangsOnItems() {
        for (Context at = context; at != null; at = at.outer) {
            if (at.mark != null) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean hangsOnContents() {
        synchronized (machine.lock()) {
            for (Context at = context; at != null; at = at.outer) {
                if (at.mark != null && !machine.hasRoom(at)) {
                    return false;
                }
            }
            return true;
        }
    }

    /** This state without the text that was read. */
    abstract JsonState plain();

    private @Nullable JsonState compute(int octet) {
        synchronized (machine.lock()) {
            machine.budget().refill();
            JsonState target = next(octet);
            if (target != null && capture == null) {
                remember(octet, target);
            }
            return target;
        }
    }

    private void remember(int octet, JsonState target) {
        Edges known = edges;
        int size = known.octets.length;
        if (size >= 24) {
            return; // a wide state: its lexeme remembers
        }
        int[] octets = Arrays.copyOf(known.octets, size + 1);
        JsonState[] targets = Arrays.copyOf(known.targets, size + 1);
        octets[size] = octet;
        targets[size] = target;
        edges = new Edges(octets, targets);
    }

    /** The state behind a byte; under the lock. */
    abstract @Nullable JsonState next(int octet);

    final @Nullable Capture captured(int octet) {
        return capture == null ? null : capture.with(octet);
    }

    @Override
    public boolean isAccepting() {
        return false;
    }

    /** Behind the whole text. */
    static final class End extends JsonState {
        End(JsonMachine machine, Context context) {
            super(machine, context, null);
        }

        @Override
        JsonState plain() {
            return this;
        }

        @Override
        @Nullable
        JsonState next(int octet) {
            boolean isSpace = octet == ' ' || octet == '\n' || octet == '\t' || octet == '\r';
            return isSpace && machine.options().whitespace() == SchemaOptions.Whitespace.ANY ? this : null;
        }

        @Override
        public boolean isAccepting() {
            return true;
        }
    }

    /** Behind a value whose surroundings are not known. */
    static final class Exit extends JsonState {
        private final int which;

        Exit(JsonMachine machine, Context context, int which) {
            super(machine, context, null);
            this.which = which;
        }

        @Override
        JsonState plain() {
            return this;
        }

        @Override
        @Nullable
        JsonState next(int octet) {
            return null;
        }

        @Override
        public int exit() {
            return which;
        }
    }

    /** Before a value. */
    static final class Value extends JsonState {
        private final int gap;
        private final boolean mayBreak;
        private final Shape.@Nullable OfArray emptyArray; // may be closed instead of the value

        Value(
                JsonMachine machine,
                Context context,
                int gap,
                boolean mayBreak,
                Shape.@Nullable OfArray emptyArray,
                @Nullable Capture capture) {
            super(machine, context, capture);
            this.gap = gap;
            this.mayBreak = mayBreak;
            this.emptyArray = emptyArray;
        }

        @Override
        JsonState plain() {
            return machine.value(context, gap, mayBreak, emptyArray, null);
        }

        @Override
        Reading reading() {
            Reading known = context.reading;
            if (known == null) {
                synchronized (machine.lock()) {
                    machine.budget().refill();
                    known = machine.reading(context);
                }
                context.reading = known;
            }
            return known;
        }

        @Override
        @Nullable
        JsonState next(int octet) {
            int wider = context.outer == null && machine.options().whitespace() != SchemaOptions.Whitespace.ANY
                    ? Integer.MIN_VALUE
                    : Gap.step(machine.options().whitespace(), gap, octet, mayBreak, context.depth);
            if (wider != Integer.MIN_VALUE) {
                return machine.value(context, wider, mayBreak, emptyArray, captured(octet));
            }
            if (octet == ']' && emptyArray != null && context.outer != null) {
                return machine.closeEmpty(context, emptyArray, captured(octet));
            }
            return machine.begin(context, octet, captured(octet));
        }

        @Override
        public @Nullable State detached() {
            if (context.outer == null || context.isDetached || capture != null || hangsOnItems()) {
                return null;
            }
            synchronized (machine.lock()) {
                return machine.detached(context, gap, mayBreak, emptyArray != null);
            }
        }

        @Override
        public @Nullable State behind(int exit) {
            synchronized (machine.lock()) {
                return exit == context.goals.length
                        ? machine.closeEmpty(context, Objects.requireNonNull(emptyArray), null)
                        : machine.finish(context, exit, null);
            }
        }
    }

    /** In a string, a number or a word that is a value: for each goal that it may still meet, the text so far. */
    static final class Text extends JsonState {
        private final @Nullable TextLexeme[] texts; // by goal
        private final int[] goals; // those that are left

        Text(JsonMachine machine, Context context, @Nullable TextLexeme[] texts, @Nullable Capture capture) {
            super(machine, context, capture);
            this.texts = texts;
            int[] left = new int[texts.length];
            int size = 0;
            for (int i = 0; i < texts.length; i++) {
                if (texts[i] != null) {
                    left[size++] = i;
                }
            }
            this.goals = Arrays.copyOf(left, size);
        }

        @Override
        JsonState plain() {
            return machine.text(context, texts, null);
        }

        @Override
        boolean isRead(int octet) {
            return true;
        }

        /** What comes behind a comma then is the next item, or stands outside all arrays whose items must differ. */
        @Override
        public boolean hangsOnWholeItems() {
            if (context.mark == null || context.isInMarked()) {
                return false;
            }
            for (int goal : goals) {
                if (known(goal).closing() != '"' || !known(goal).isBetweenSymbols()) {
                    return false;
                }
            }
            synchronized (machine.lock()) {
                return machine.hasEndlessTexts(context);
            }
        }

        @Override
        @Nullable
        JsonState next(int octet) {
            TextLexeme[] further = new TextLexeme[texts.length];
            int ended = -1;
            boolean isLeft = false;
            for (int goal : goals) {
                TextLexeme text = known(goal);
                TextLexeme next = text.next(octet);
                if (next != null && next.isComplete()) {
                    return machine.finish(context, goal, captured(octet));
                }
                further[goal] = next;
                isLeft |= next != null;
                ended = text.mayEnd() ? goal : ended;
            }
            if (isLeft) {
                return machine.text(context, further, captured(octet));
            }
            JsonState behind = ended < 0 ? null : machine.finish(context, ended, capture);
            return behind == null ? null : behind.step(octet);
        }

        private TextLexeme known(int goal) {
            return Objects.requireNonNull(texts[goal]);
        }

        @Override
        public boolean isAccepting() {
            if (context.outer == null) {
                for (int goal : goals) {
                    if (known(goal).mayEnd()) {
                        return true;
                    }
                }
            }
            return false;
        }

        @Override
        public int branches() {
            return goals.length;
        }

        @Override
        public Lexeme lexeme(int branch) {
            return known(goals[branch]);
        }

        @Override
        public @Nullable Lexeme joint() {
            return goals.length == 2 ? machine.joint(known(goals[0]), known(goals[1])) : null;
        }

        @Override
        public int together() {
            return 2;
        }

        @Override
        public @Nullable State leave(int branch, Lexeme end) {
            synchronized (machine.lock()) {
                return machine.finish(context, goals[branch], null);
            }
        }
    }

    /** Between the parts of an object. */
    static final class InObject extends JsonState {
        enum Place {
            OPENED,
            COMMA,
            KEY,
            MEMBER
        }

        private static final Reading OPENED = new Reading("\"}");
        private static final Reading COMMA = new Reading("\"");
        private static final Reading KEY = new Reading(":");
        private static final Reading MEMBER = new Reading(",}");

        private final Shape.OfObject shape;
        private final Extras extras;
        private final Place place;
        private final int gap;
        private final @Nullable Context value; // behind a key

        InObject(
                JsonMachine machine,
                Context context,
                Shape.OfObject shape,
                Extras extras,
                Place place,
                int gap,
                @Nullable Context value,
                @Nullable Capture capture) {
            super(machine, context, capture);
            this.shape = shape;
            this.extras = extras;
            this.place = place;
            this.gap = gap;
            this.value = value;
        }

        @Override
        JsonState plain() {
            return machine.inObject(context, shape, extras, place, gap, value, null);
        }

        @Override
        Reading reading() {
            return switch (place) {
                case OPENED -> OPENED;
                case COMMA -> COMMA;
                case KEY -> KEY;
                case MEMBER -> MEMBER;
            };
        }

        @Override
        @Nullable
        JsonState next(int octet) {
            boolean isAny = machine.options().whitespace() == SchemaOptions.Whitespace.ANY;
            Capture next = captured(octet);
            return switch (place) {
                case KEY -> {
                    if (octet == ':' && value != null) {
                        yield machine.value(value, Gap.NOTHING, false, null, next);
                    }
                    boolean isSpace = isAny && Gap.step(machine.options().whitespace(), gap, octet, true, 0) == 0;
                    yield isSpace ? machine.inObject(context, shape, extras, place, gap, value, next) : null;
                }
                case OPENED, COMMA -> {
                    if (octet == '"') {
                        yield machine.openKey(context, shape, extras, next);
                    }
                    yield octet == '}' && place == Place.OPENED ? close(next) : spaced(octet, next);
                }
                case MEMBER -> {
                    if (octet == ',' && (gap == Gap.NOTHING)) {
                        yield machine.hasKeys(shape, extras)
                                ? machine.inObject(context, shape, extras, Place.COMMA, Gap.NOTHING, null, next)
                                : null;
                    }
                    yield octet == '}' ? close(next) : spaced(octet, next);
                }
            };
        }

        @Override
        public boolean mayAdvance(int octet) {
            if (octet != '"' || (place != Place.OPENED && place != Place.COMMA)) {
                return super.mayAdvance(octet);
            }
            synchronized (machine.lock()) {
                machine.budget().refill();
                return machine.hasKeys(shape, extras);
            }
        }

        private @Nullable JsonState close(@Nullable Capture next) {
            return machine.closeObject(context, shape, next);
        }

        private @Nullable JsonState spaced(int octet, @Nullable Capture next) {
            int wider = Gap.step(machine.options().whitespace(), gap, octet, true, context.depth + 1);
            if (wider == Integer.MIN_VALUE) {
                return null;
            }
            boolean isAny = machine.options().whitespace() == SchemaOptions.Whitespace.ANY;
            boolean goesOn = isAny
                    || (place == Place.OPENED && (machine.isClosable(shape) || machine.hasKeys(shape, extras)))
                    || place == Place.COMMA
                    || machine.isClosable(shape);
            return goesOn ? machine.inObject(context, shape, extras, place, wider, null, next) : null;
        }
    }

    /** Behind an item of an array. */
    static final class InArray extends JsonState {
        private static final Reading READING = new Reading(",]");

        private final Shape.OfArray shape;
        private final int gap;

        InArray(JsonMachine machine, Context context, Shape.OfArray shape, int gap, @Nullable Capture capture) {
            super(machine, context, capture);
            this.shape = shape;
            this.gap = gap;
        }

        @Override
        JsonState plain() {
            return machine.inArray(context, shape, gap, null);
        }

        @Override
        Reading reading() {
            return READING;
        }

        @Override
        public boolean mayAdvance(int octet) {
            if (octet != ',' || gap != Gap.NOTHING) {
                return super.mayAdvance(octet);
            }
            synchronized (machine.lock()) {
                machine.budget().refill();
                return machine.hasItem(shape);
            }
        }

        @Override
        @Nullable
        JsonState next(int octet) {
            Capture next = captured(octet);
            if (octet == ',' && gap == Gap.NOTHING) {
                return machine.item(context, shape, null, next);
            }
            if (octet == ']') {
                return machine.closeArray(context, shape, next);
            }
            int wider = Gap.step(machine.options().whitespace(), gap, octet, true, context.depth + 1);
            boolean isAny = machine.options().whitespace() == SchemaOptions.Whitespace.ANY;
            return wider != Integer.MIN_VALUE && (isAny || machine.isClosable(shape))
                    ? machine.inArray(context, shape, wider, next)
                    : null;
        }
    }
}
