package roselle.structured;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import roselle.conversation.format.ParameterKinds;
import roselle.conversation.format.Shape;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.schema.SchemaOptions;
import tools.jackson.databind.json.JsonMapper;

/** Makes a constraint of a shape, from its end to its beginning. */
public final class ShapeCompiler {
    private static final JsonMapper JSON = new JsonMapper();

    /** Shorter ones are words of texts, too. */
    private static final int SHORTEST_MARK = 4;

    private static final int MAX_UNORDERED = 5; // members: 32 sets of them

    private final SpecialOctets special;
    private final int[] endTokens;
    private final GrammarLimits limits;
    private final List<String> valueMarks;
    private List<String> excluded = List.of();
    private boolean isUnordered; // the outermost members
    private boolean isRepeated; // whether what is compiled comes again
    private final Map<Map<String, Object>, Constraint> unordered = new HashMap<>(); // each comes behind many sets
    private @Nullable Content wanted;

    /**
     * What an answer is that calls nothing.
     *
     * @param isOneLexeme whether each of its texts is one lexeme
     */
    record Content(Constraint constraint, boolean isOneLexeme) {}

    /**
     * A compiler for a model and a format.
     *
     * @param endTokens with which the model ends its answers
     * @param marks that no value written as plain text has in it, since readers would take them for the format's own
     */
    public ShapeCompiler(SpecialOctets special, int[] endTokens, List<String> marks, GrammarLimits limits) {
        valueMarks = marks.stream()
                .map(String::strip)
                .filter(mark -> mark.length() >= SHORTEST_MARK)
                .toList();
        this.special = special;
        this.endTokens = endTokens.clone();
        this.limits = limits;
    }

    /** Allows no value with one of some texts in it. */
    ShapeCompiler excluding(List<String> texts) {
        excluded = List.copyOf(texts);
        return this;
    }

    /**
     * Texts of a shape.
     *
     * @throws GrammarException if a schema cannot be kept to, or a value is spelled in a way that cannot be held to one
     */
    public Constraint compile(Shape shape) {
        return compile(shape, null);
    }

    /** Texts of a shape, with that content where it has one. */
    Constraint compile(Shape shape, @Nullable Content content) {
        wanted = content;
        return new ShapeConstraint(node(shape, new ShapeNode.End()));
    }

    /** A shape with what comes behind it. */
    ShapeNode node(Shape shape, ShapeNode next) {
        return switch (shape) {
            case Shape.Literal(String text) -> literal(text, next);
            case Shape.FreeText(List<String> stops) -> free(stops, next);
            case Shape.Json(Map<String, Object> schema) -> new ShapeNode.Held(json(schema), false, next);
            case Shape.ParameterText(Map<String, Object> schema, String stop) -> parameter(schema, stop, next);
            case Shape.Sequence(List<Shape> parts) -> {
                ShapeNode node = next;
                for (Shape part : parts.reversed()) {
                    node = node(part, node);
                }
                yield node;
            }
            case Shape.Choice(List<Shape> branches) -> {
                var fork = new ShapeNode.Fork();
                branches.forEach(branch -> fork.branches.add(node(branch, next)));
                yield fork;
            }
            case Shape.Repeated repeated -> repeated(repeated, next);
            case Shape.Members(List<Shape.Member> members, String separator) -> members(members, separator, next);
            case Shape.Value(Map<String, Object> schema, Shape.Spelling spelling, String quote) ->
                new ShapeNode.Held(
                        switch (spelling) {
                            case PYTHON -> new PythonSpelling(json(schema));
                            case MARKED -> marked(schema, quote);
                        },
                        false,
                        next);
            case Shape.Content _ -> {
                Content content = Objects.requireNonNull(wanted);
                yield new ShapeNode.Held(content.constraint(), content.isOneLexeme(), next);
            }
            case Shape.Triggered triggered -> triggered(triggered, next);
        };
    }

    /** A token that ends answers ends the shape: nothing comes behind it, and any such token is allowed for it. */
    private ShapeNode literal(String text, ShapeNode next) {
        int end = special.indexOfAny(text, endTokens);
        if (end >= 0) {
            return literal(special.of(text.substring(0, end)), new ShapeNode.End());
        }
        return literal(special.of(text), next);
    }

    private static ShapeNode literal(byte[] octets, ShapeNode next) {
        return octets.length == 0 ? next : new ShapeNode.Literal(octets, next);
    }

    private ShapeNode triggered(Shape.Triggered text, ShapeNode next) {
        var marks = new Marks(new MarkedText.Freedom(true, text.barred()));
        for (Shape.Mark mark : text.marks()) {
            marks.lead(special.of(mark.text()), node(mark.then(), next));
        }
        text.excluded().forEach(mark -> marks.exclude(special.of(mark)));
        var fork = new ShapeNode.Fork(marks.text(text.mustCome() ? null : next));
        text.atOnce().forEach(shape -> fork.branches.add(node(shape, next)));
        return fork;
    }

    private static GrammarException unsupported(String what) {
        return new GrammarException(
                Reason.UNSUPPORTED, "the model's format has " + what + ", which cannot be held to a schema yet.");
    }

    private Constraint json(Map<String, Object> schema) {
        Constraint known = isRepeated ? unordered.get(schema) : null;
        if (known == null) {
            known = made(schema);
            if (isRepeated) {
                unordered.put(schema, known);
            }
        }
        return known;
    }

    private Constraint made(Map<String, Object> schema) {
        return Constraints.jsonSchema(JSON.writeValueAsString(schema), SchemaOptions.GENERATING, excluded, limits);
    }

    private Constraint marked(Map<String, Object> schema, String quote) {
        String written = JSON.writeValueAsString(quote);
        boolean isToken = special.tokenOf(quote) >= 0; // else texts may have the mark in them
        if (!isToken && JSON.writeValueAsString(schema).contains(written.substring(1, written.length() - 1))) {
            throw unsupported("the marks " + quote + " around texts, and the schema texts with it");
        }
        return new MarkedSpelling(json(schema), special.of(quote), BareKeys.areIn(schema));
    }

    /** Text up to what is next, where that is a literal with a stop in it; else up to anywhere. */
    private ShapeNode free(List<String> stops, ShapeNode next) {
        var marks = new Marks(MarkedText.Freedom.TEXT);
        List<byte[]> excluded = stops.stream().map(special::of).toList();
        int length = next instanceof ShapeNode.Literal literal ? lengthToStop(literal.octets, excluded) : 0;
        if (next instanceof ShapeNode.Literal literal && length > 0) {
            byte[] rest = Arrays.copyOfRange(literal.octets, length, literal.octets.length);
            marks.lead(Arrays.copyOf(literal.octets, length), literal(rest, literal.next));
        }
        excluded.forEach(marks::exclude);
        return marks.text(length > 0 ? null : next);
    }

    /** How much of a literal it takes to have a stop whole; 0 if it has none. */
    private static int lengthToStop(byte[] literal, List<byte[]> stops) {
        for (int length = 1; length <= literal.length; length++) {
            for (byte[] stop : stops) {
                int from = length - stop.length;
                if (stop.length > 0 && from >= 0 && Arrays.equals(literal, from, length, stop, 0, stop.length)) {
                    return length;
                }
            }
        }
        return 0;
    }

    private ShapeNode parameter(Map<String, Object> schema, String stop, ShapeNode next) {
        List<Map<String, Object>> kinds = ParameterKinds.of(schema);
        boolean mayBeText = kinds.stream().anyMatch(ParameterKinds::mayBeText);
        if (mayBeText && !kinds.stream().allMatch(ParameterKinds::isFree)) {
            throw unsupported("texts that are not written as JSON");
        }
        var fork = new ShapeNode.Fork();
        for (Map<String, Object> kind : kinds) {
            fork.branches.add(
                    ParameterKinds.mayBeText(kind)
                            ? text(kind, stop, next)
                            : new ShapeNode.Held(json(kind), false, next));
        }
        return fork.branches.size() == 1 ? fork.branches.getFirst() : fork;
    }

    private ShapeNode text(Map<String, Object> schema, String stop, ShapeNode next) {
        List<@Nullable Object> texts = ParameterKinds.texts(schema);
        if (texts.isEmpty()) {
            return free(
                    Stream.of(List.of(stop.strip()), valueMarks, excluded)
                            .flatMap(List::stream)
                            .toList(),
                    next);
        }
        var fork = new ShapeNode.Fork();
        for (@Nullable Object text : texts) {
            String written = text instanceof String plain ? plain : JSON.writeValueAsString(text);
            if (excluded.stream().anyMatch(written::contains)) {
                continue;
            }
            fork.branches.add(literal(written.getBytes(StandardCharsets.UTF_8), next));
        }
        if (fork.branches.isEmpty()) {
            throw new GrammarException(Reason.EMPTY, "each of the values has an excluded text in it.");
        }
        return fork;
    }

    private ShapeNode repeated(Shape.Repeated repeated, ShapeNode next) {
        if (repeated.least() > 1 || (repeated.most() > 1 && repeated.most() < Integer.MAX_VALUE)) {
            throw new IllegalArgumentException("a part that comes " + repeated.least() + " to " + repeated.most());
        }
        var behind = new ShapeNode.Fork(next);
        ShapeNode part = node(repeated.part(), repeated.most() == 1 ? next : behind);
        behind.branches.add(literal(special.of(repeated.separator()), part));
        return repeated.least() == 0 ? new ShapeNode.Fork(next, part) : part;
    }

    /** The same with the members of arguments in any order, where they are few; members of theirs stay in the schema's. */
    ShapeCompiler unordered() {
        isUnordered = true;
        return this;
    }

    /** For each set of members that have come, what may follow it. */
    private ShapeNode unordered(List<Shape.Member> members, String separator, ShapeNode next) {
        if (members.size() > MAX_UNORDERED) {
            throw new GrammarException(
                    Reason.UNSUPPORTED, "more than " + MAX_UNORDERED + " properties cannot come in any order.");
        }
        isUnordered = false;
        isRepeated = true;
        var behind = new ShapeNode[1 << members.size()];
        for (int come = behind.length - 1; come >= 0; come--) {
            ShapeNode here = areAllRequired(members, come) ? next : null;
            for (int i = members.size() - 1; i >= 0; i--) {
                if ((come & 1 << i) == 0) {
                    ShapeNode written = node(members.get(i).shape(), behind[come | 1 << i]);
                    ShapeNode separated = come == 0 ? written : literal(special.of(separator), written);
                    here = here == null ? separated : new ShapeNode.Fork(separated, here);
                }
            }
            behind[come] = Objects.requireNonNull(here, "some member is left where one is wanted");
        }
        isRepeated = false;
        return behind[0];
    }

    private static boolean areAllRequired(List<Shape.Member> members, int come) {
        for (int i = 0; i < members.size(); i++) {
            if (members.get(i).isRequired() && (come & 1 << i) == 0) {
                return false;
            }
        }
        return true;
    }

    /** From the last member to the first: what may follow depends on whether one came before. */
    private ShapeNode members(List<Shape.Member> members, String separator, ShapeNode next) {
        if (isUnordered) {
            return unordered(members, separator, next);
        }
        ShapeNode first = next;
        ShapeNode further = next;
        for (Shape.Member member : members.reversed()) {
            ShapeNode written = node(member.shape(), further);
            ShapeNode separated = literal(special.of(separator), written);
            first = member.isRequired() ? written : new ShapeNode.Fork(written, first);
            further = member.isRequired() ? separated : new ShapeNode.Fork(separated, further);
        }
        return first;
    }
}
