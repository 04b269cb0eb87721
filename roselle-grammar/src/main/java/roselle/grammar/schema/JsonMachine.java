package roselle.grammar.schema;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;
import roselle.grammar.regex.SharedTexts;
import roselle.grammar.regex.TextLexeme;

/**
 * The JSON texts whose value meets a formula, as an automaton over bytes.
 *
 * <p>A state is a place in the text, a context (what encloses it) and, within objects and arrays, a shape. States are interned in
 * their context unless they hold text that was read ({@link Capture}): the keys of an object that no schema names, and items that
 * must differ.
 */
final class JsonMachine implements Constraint {
    private static final int MAX_NESTING = 512;

    private final Formulas formulas;
    private final Languages languages;
    private final Shapes shapes;
    private final SchemaOptions options;
    private final Map<DetachedKey, Context> detached = new HashMap<>();
    private final Context whole;
    private final JsonState start;
    private final JsonState end;

    JsonMachine(Formulas formulas, Shapes shapes, Formula formula, SchemaOptions options) {
        this.formulas = formulas;
        this.languages = formulas.languages();
        this.shapes = shapes;
        this.options = options;
        if (!shapes.completion().isSatisfiable(formula)) {
            throw new GrammarException(GrammarException.Reason.EMPTY, "no value is valid.");
        }
        this.whole = new Context(null, new Formula[] {formula}, List.of(), Extras.NONE, null);
        this.end = new JsonState.End(this, whole);
        this.start = value(whole, Gap.NOTHING, true, null, null);
        Preparation.of(formulas, shapes, formula);
    }

    @Override
    public State start() {
        return start;
    }

    Object lock() {
        return languages.lock();
    }

    Budget budget() {
        return formulas.budget();
    }

    SchemaOptions options() {
        return options;
    }

    // ---- interning ----

    private <T> T made(Context context, @Nullable Capture capture, Object key, Supplier<T> maker) {
        if (capture != null) {
            return maker.get();
        }
        @SuppressWarnings("unchecked")
        T known = (T) context.made.get(key);
        if (known == null) {
            formulas.budget().keep(3);
            known = maker.get();
            context.made.put(key, known);
        }
        return known;
    }

    /** A value by what it must meet; formulas by identity, as they are interned themselves. */
    @SuppressWarnings("ArrayRecordComponent") // compared by its elements
    private record DetachedKey(Formula[] goals, int depth) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof DetachedKey key && depth == key.depth && Arrays.equals(goals, key.goals);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(goals) * 31 + depth;
        }
    }

    private Context inner(Context outer, List<Shape.Outcome> outcomes, Extras extras, @Nullable Capture mark) {
        if (outer.depth >= MAX_NESTING) {
            throw new GrammarException(
                    GrammarException.Reason.BUDGET, "the text is nested deeper than " + MAX_NESTING + " values.");
        }
        return made(outer, mark, new PlaceKey.Within(outcomes, extras), () -> {
            Formula[] goals = new Formula[outcomes.size()];
            for (int i = 0; i < goals.length; i++) {
                goals[i] = outcomes.get(i).part();
            }
            return new Context(outer, goals, outcomes, extras, mark);
        });
    }

    JsonState value(
            Context context, int gap, boolean mayBreak, Shape.@Nullable OfArray emptyArray, @Nullable Capture capture) {
        return made(
                context,
                capture,
                new PlaceKey.OfValue(gap, mayBreak, emptyArray),
                () -> new JsonState.Value(this, context, gap, mayBreak, emptyArray, capture));
    }

    JsonState text(Context context, @Nullable TextLexeme[] texts, @Nullable Capture capture) {
        return made(context, capture, Arrays.asList(texts), () -> new JsonState.Text(this, context, texts, capture));
    }

    JsonState key(
            Context context,
            Shape.OfObject shape,
            Extras extras,
            KeyTexts texts,
            @Nullable Capture mark,
            @Nullable Capture capture) {
        return made(
                context,
                capture,
                new PlaceKey.InKey(shape, extras, texts),
                () -> new KeyState(this, context, shape, extras, texts, mark, capture));
    }

    JsonState inObject(
            Context context,
            Shape.OfObject shape,
            Extras extras,
            JsonState.InObject.Place place,
            int gap,
            @Nullable Context value,
            @Nullable Capture capture) {
        return made(
                context,
                capture,
                new PlaceKey.InObject(shape, extras, place, gap, value),
                () -> new JsonState.InObject(this, context, shape, extras, place, gap, value, capture));
    }

    JsonState inArray(Context context, Shape.OfArray shape, int gap, @Nullable Capture capture) {
        return made(
                context,
                capture,
                new PlaceKey.InArray(shape, gap),
                () -> new JsonState.InArray(this, context, shape, gap, capture));
    }

    // ---- values ----

    /** Stands for an array that may be closed, where an array around a value is not known. */
    private static final Shape.OfArray SOME_ARRAY = new Shape.OfArray(Formula.NO_PARTS, 0);

    /** A value before its first byte, wherever it stands. */
    JsonState detached(Context context, int gap, boolean mayBreak, boolean mayClose) {
        var key = new DetachedKey(context.goals, context.depth);
        Context known = detached.get(key);
        if (known == null) {
            formulas.budget().keep(3);
            known = Context.detached(whole, context.goals, context.depth);
            detached.put(key, known);
        }
        return value(known, gap, mayBreak, mayClose ? SOME_ARRAY : null, null);
    }

    private JsonState exit(Context context, int which) {
        return made(context, null, which, () -> new JsonState.Exit(this, context, which));
    }

    /** The end of an array before its first item; where what is around is not known, the end behind those of all goals. */
    @Nullable
    JsonState closeEmpty(Context context, Shape.OfArray empty, @Nullable Capture capture) {
        if (context.isDetached) {
            return exit(context, context.goals.length);
        }
        return closeArray(Objects.requireNonNull(context.outer), empty, context.outside(capture));
    }

    /** What a value, or the end of an array in its place, may begin with. */
    Reading reading(Context context) {
        int types = 0;
        for (ValueType type : ValueType.values()) {
            for (Formula goal : context.goals) {
                types |= formulas.forType(goal, type).isFalse() ? 0 : Reading.bit(type);
            }
        }
        return Reading.ofValue(types);
    }

    /** The state behind the first byte of a value. */
    @Nullable
    JsonState begin(Context context, int octet, @Nullable Capture capture) {
        return switch (octet) {
            case '"' -> string(context, capture);
            case '{' -> {
                Shape.OfObject shape = (Shape.OfObject) opened(context, ValueType.OBJECT);
                if (shape == null) {
                    yield null;
                }
                yield inObject(
                        context, shape, Extras.NONE, JsonState.InObject.Place.OPENED, Gap.NOTHING, null, capture);
            }
            case '[' -> {
                Shape.OfArray shape = (Shape.OfArray) opened(context, ValueType.ARRAY);
                if (shape == null) {
                    yield null;
                }
                yield item(context, shape, shape, capture);
            }
            case 't' -> word(context, ValueType.TRUE, "rue", capture);
            case 'f' -> word(context, ValueType.FALSE, "alse", capture);
            case 'n' -> word(context, ValueType.NULL, "ull", capture);
            default -> octet == '-' || (octet >= '0' && octet <= '9') ? number(context, octet, capture) : null;
        };
    }

    private @Nullable JsonState string(Context context, @Nullable Capture capture) {
        TextLexeme[] texts = new TextLexeme[context.goals.length];
        boolean isLeft = false;
        for (int i = 0; i < texts.length; i++) {
            texts[i] = lexeme(formulas.language(context.goals[i], ValueType.STRING));
            isLeft |= texts[i] != null;
        }
        return isLeft ? text(context, texts, capture) : null;
    }

    private @Nullable TextLexeme lexeme(Language language) {
        return TextLexeme.of(
                languages,
                language,
                options.allowsAnyEscape() ? TextLexeme.Spelling.JSON_ANY : TextLexeme.Spelling.JSON);
    }

    /** Any text, where one of two places in texts has exactly what the other has not; null of most. */
    @SuppressWarnings("ReferenceEquality") // interned
    @Nullable
    TextLexeme joint(TextLexeme one, TextLexeme other) {
        boolean isBetween = one.isBetweenSymbols() && other.isBetweenSymbols();
        if (!isBetween || one.closing() != '"' || other.closing() != '"' || one.isShared() || other.isShared()) {
            return null;
        }
        synchronized (lock()) {
            return languages.not(one.language()) == other.language() ? lexeme(languages.any()) : null;
        }
    }

    private @Nullable JsonState number(Context context, int octet, @Nullable Capture capture) {
        TextLexeme[] texts = new TextLexeme[context.goals.length];
        boolean isLeft = false;
        for (int i = 0; i < texts.length; i++) {
            if (formulas.forType(context.goals[i], ValueType.NUMBER).isFalse()) {
                continue;
            }
            Language language = formulas.language(context.goals[i], ValueType.NUMBER);
            TextLexeme first = formulas.numbers().begin(language);
            texts[i] = first == null ? null : first.next(octet);
            isLeft |= texts[i] != null;
        }
        return isLeft ? text(context, texts, capture) : null;
    }

    private @Nullable JsonState word(Context context, ValueType type, String rest, @Nullable Capture capture) {
        TextLexeme[] texts = new TextLexeme[context.goals.length];
        for (int i = 0; i < texts.length; i++) {
            if (formulas.forType(context.goals[i], type).isTrue()) {
                texts[i] = SharedTexts.of(rest, all -> all.text(rest), TextLexeme.Spelling.RAW);
                return text(context, texts, capture);
            }
        }
        return null;
    }

    private @Nullable Shape opened(Context context, ValueType type) {
        String key = type == ValueType.OBJECT ? "{" : "[";
        Object known = context.made.get(key);
        if (known == null) {
            Formula[] goals = new Formula[context.goals.length];
            for (int i = 0; i < goals.length; i++) {
                goals[i] = formulas.forType(context.goals[i], type);
            }
            Shape shape = type == ValueType.OBJECT ? shapes.object(goals) : shapes.array(goals);
            known = shapes.completion().isLive(shape) ? shape : this;
            context.made.put(key, known);
        }
        return known == this ? null : (Shape) known;
    }

    /** The state behind a value that meets a goal. */
    JsonState finish(Context context, int goal, @Nullable Capture capture) {
        Context outer = context.outer;
        if (outer == null) {
            return end;
        }
        if (context.isDetached) {
            return exit(context, goal);
        }
        Shape next = context.outcomes.get(goal).next();
        Capture outside = context.outside(capture);
        return switch (next) {
            case Shape.OfObject object ->
                inObject(
                        outer,
                        object,
                        context.extras,
                        JsonState.InObject.Place.MEMBER,
                        Gap.NOTHING,
                        null,
                        outerCapture(outer, outside));
            case Shape.OfArray array -> {
                Shape.OfArray known = array;
                if (context.mark != null && capture != null && Shapes.isPending(array)) {
                    known = shapes.withValue(array, Values.read(capture.since(context.mark)));
                }
                yield inArray(outer, known, Gap.NOTHING, outerCapture(outer, outside));
            }
        };
    }

    /** What is still wanted of the text outside a value. */
    private static @Nullable Capture outerCapture(Context outer, @Nullable Capture capture) {
        return isWanted(outer) ? capture : null;
    }

    private static boolean isWanted(Context context) {
        for (Context at = context; at != null; at = at.outer) {
            if (at.mark != null) {
                return true;
            }
        }
        return false;
    }

    /** Where text is wanted from here on. None is begun where that of an outer value has been left out, as twins do. */
    private static @Nullable Capture wanted(Context context, @Nullable Capture capture) {
        return capture == null && !isWanted(context) ? Capture.START : capture;
    }

    // ---- objects ----

    boolean hasKeys(Shape.OfObject shape, Extras extras) {
        if (shape.keys == null && shapes.hasName(shape)) {
            return true;
        }
        KeyTable table = shapes.keys(shape);
        return !table.names().isEmpty() || hasKinds(table, extras);
    }

    private boolean hasKinds(KeyTable table, Extras extras) {
        for (KeyTable.Kind kind : table.kinds()) {
            if (languages.isLive(extras.without(languages, kind.keys()))) {
                return true;
            }
        }
        return false;
    }

    boolean isClosable(Shape shape) {
        return shapes.closed(shape) >= 0;
    }

    @Nullable
    JsonState openKey(Context context, Shape.OfObject shape, Extras extras, @Nullable Capture capture) {
        KeyTable table = shapes.keys(shape);
        TextLexeme names = table.names().isEmpty() ? null : lexeme(table.names());
        TextLexeme[] kinds = new TextLexeme[table.kinds().size()];
        boolean isLeft = names != null;
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = lexeme(extras.without(languages, table.kinds().get(i).keys()));
            isLeft |= kinds[i] != null;
        }
        if (!isLeft) {
            return null;
        }
        Capture start = kinds.length > 0 ? wanted(context, capture) : capture;
        Language all = table.others();
        TextLexeme others = all == null ? null : lexeme(extras.without(languages, all));
        return key(context, shape, extras, new KeyTexts(names, kinds, others), start, start);
    }

    /** Behind a key that the schemas name. */
    JsonState named(
            Context context,
            Shape.OfObject shape,
            Extras extras,
            TextLexeme closed,
            @Nullable Capture capture,
            @Nullable Capture mark,
            int octet) {
        String name = Objects.requireNonNull(closed.language().completed());
        return behindKey(context, shape, extras, shapes.member(shape, name), outside(mark, capture), octet);
    }

    /** Behind a key of a kind. */
    JsonState other(
            Context context,
            Shape.OfObject shape,
            Extras extras,
            int kind,
            @Nullable Capture capture,
            @Nullable Capture mark,
            int octet) {
        Extras more = extras;
        if (capture != null && mark != null) {
            more = extras.with(Values.readString(capture.since(mark)));
        }
        List<Shape.Outcome> outcomes = shapes.keys(shape).kinds().get(kind).outcomes();
        return behindKey(context, shape, more, outcomes, outside(mark, capture), octet);
    }

    /** What was read, as far as it is wanted behind a key; nothing where reading began with the key. */
    private static @Nullable Capture outside(@Nullable Capture mark, @Nullable Capture capture) {
        return Capture.START.equals(mark) ? null : capture;
    }

    private JsonState behindKey(
            Context context,
            Shape.OfObject shape,
            Extras extras,
            List<Shape.Outcome> outcomes,
            @Nullable Capture capture,
            int octet) {
        Capture outer = outerCapture(context, capture == null ? null : capture.with(octet));
        Context value = inner(context, outcomes, extras, null);
        return inObject(context, shape, extras, JsonState.InObject.Place.KEY, Gap.NOTHING, value, outer);
    }

    @Nullable
    JsonState closeObject(Context context, Shape.OfObject shape, @Nullable Capture capture) {
        int goal = shapes.closed(shape);
        return goal < 0 ? null : finish(context, goal, capture);
    }

    // ---- arrays ----

    /** Before an item, or before the end of an array that is empty so far. */
    @Nullable
    JsonState item(Context context, Shape.OfArray shape, Shape.@Nullable OfArray empty, @Nullable Capture capture) {
        List<Shape.Outcome> outcomes = shapes.items(shape);
        boolean isWanted = false;
        for (Shape.Outcome outcome : outcomes) {
            isWanted |= Shapes.isPending(outcome.next());
        }
        Capture now = isWanted ? wanted(context, capture) : capture;
        Context value = inner(context, outcomes, Extras.NONE, isWanted ? now : null);
        if (outcomes.isEmpty() && (empty == null || !isClosable(empty))) {
            return null;
        }
        return value(value, Gap.NOTHING, true, empty != null && isClosable(empty) ? empty : null, now);
    }

    /** Whether a further item may come. */
    boolean hasItem(Shape.OfArray shape) {
        return shapes.hasItem(shape);
    }

    /** Whether further items may come behind one, and begin as texts, whatever that one is. */
    boolean hasRoom(Context item) {
        for (Shape.Outcome outcome : item.outcomes) {
            if (!(outcome.next() instanceof Shape.OfArray array)
                    || !shapes.completion().hasRoom(array)) {
                return false;
            }
        }
        return true;
    }

    /** Whether texts that further items begin as can be prolonged without end, wherever they stand. */
    boolean hasEndlessTexts(Context item) {
        for (Shape.Outcome outcome : item.outcomes) {
            if (!(outcome.next() instanceof Shape.OfArray array)
                    || !shapes.completion().hasEndlessTexts(array)) {
                return false;
            }
        }
        return true;
    }

    @Nullable
    JsonState closeArray(Context context, Shape.OfArray shape, @Nullable Capture capture) {
        int goal = shapes.closed(shape);
        return goal < 0 ? null : finish(context, goal, outerCapture(context, capture));
    }
}
