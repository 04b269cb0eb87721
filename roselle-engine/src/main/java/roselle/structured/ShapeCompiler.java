package roselle.structured;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
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

    /** What a schema of a text that is not written as JSON may say besides its type: nothing that binds. */
    private static final Set<String> REMARKS = Set.of("type", "title", "description", "default", "examples", "enum");

    /** Shorter ones are words of texts, too. */
    private static final int SHORTEST_MARK = 4;

    private final SpecialOctets special;
    private final int[] endTokens;
    private final GrammarLimits limits;
    private final List<String> valueMarks;

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

    /**
     * Texts of a shape.
     *
     * @throws GrammarException if a schema cannot be kept to, or a value is spelled in a way that cannot be held to one
     */
    public Constraint compile(Shape shape) {
        return new ShapeConstraint(node(shape, new ShapeNode.End()));
    }

    private ShapeNode node(Shape shape, ShapeNode next) {
        return switch (shape) {
            case Shape.Literal(String text) -> literal(text, next);
            case Shape.FreeText(List<String> stops) -> free(stops, next);
            case Shape.Json(Map<String, Object> schema) -> new ShapeNode.Held(json(schema), next);
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
            case Shape.Value _ -> throw unsupported("values that are not written as JSON");
            case Shape.Triggered _ -> throw unsupported("text that a mark ends");
        };
    }

    private ShapeNode literal(String text, ShapeNode next) {
        if (special.spellsAny(text, endTokens)) {
            throw unsupported("a token in it that ends an answer");
        }
        return new ShapeNode.Literal(special.of(text), next);
    }

    private static GrammarException unsupported(String what) {
        return new GrammarException(
                Reason.UNSUPPORTED, "the model's format has " + what + ", which cannot be held to a schema yet.");
    }

    private Constraint json(Map<String, Object> schema) {
        return Constraints.jsonSchema(JSON.writeValueAsString(schema), SchemaOptions.GENERATING, limits);
    }

    private ShapeNode free(List<String> stops, ShapeNode next) {
        return new ShapeNode.Free(
                new TextWithout(stops.stream().map(special::of).toList()), next);
    }

    private ShapeNode parameter(Map<String, Object> schema, String stop, ShapeNode next) {
        boolean isText = "string".equals(schema.get("type"));
        if (!isText && schema.get("type") instanceof String) {
            return new ShapeNode.Held(json(schema), next);
        }
        if (!REMARKS.containsAll(schema.keySet())) {
            throw unsupported("texts that are not written as JSON");
        }
        if (!(schema.get("enum") instanceof List<?> texts)) {
            return free(
                    Stream.concat(Stream.of(stop.strip()), valueMarks.stream()).toList(), next);
        }
        var fork = new ShapeNode.Fork();
        for (Object text : texts) {
            String written = text instanceof String plain ? plain : JSON.writeValueAsString(text);
            fork.branches.add(new ShapeNode.Literal(written.getBytes(StandardCharsets.UTF_8), next));
        }
        return fork;
    }

    private ShapeNode repeated(Shape.Repeated repeated, ShapeNode next) {
        if (repeated.least() != 1) {
            throw new IllegalArgumentException("a part comes once at least, and not " + repeated.least() + " times");
        }
        if (repeated.most() == 1) {
            return node(repeated.part(), next);
        }
        var behind = new ShapeNode.Fork(next);
        ShapeNode part = node(repeated.part(), behind);
        behind.branches.add(new ShapeNode.Literal(special.of(repeated.separator()), part));
        return part;
    }

    /** From the last member to the first: what may follow depends on whether one came before. */
    private ShapeNode members(List<Shape.Member> members, String separator, ShapeNode next) {
        ShapeNode first = next;
        ShapeNode further = next;
        for (Shape.Member member : members.reversed()) {
            ShapeNode written = node(member.shape(), further);
            ShapeNode separated = new ShapeNode.Literal(special.of(separator), written);
            first = member.isRequired() ? written : new ShapeNode.Fork(written, first);
            further = member.isRequired() ? separated : new ShapeNode.Fork(separated, further);
        }
        return first;
    }
}
