package roselle.structured;

import java.lang.ref.SoftReference;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.ResponseFormat;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.Vocabulary;
import roselle.grammar.schema.SchemaOptions;
import roselle.tokenizer.Tokenizer;
import tools.jackson.databind.json.JsonMapper;

/**
 * The response formats of an engine's requests as masks of its tokens, compiled on the threads that submit; thread-safe.
 *
 * <p>Those asked for last are kept, found by their content, as long as memory is not short; an answer holds on to its own.
 */
public final class CompiledFormats {
    private static final String FIELD = "response_format";
    private static final int KEPT = 128;

    private final Tokenizer tokenizer;
    private final int size;
    private final int[] endTokens;
    private final GrammarLimits limits;
    private final Map<Object, SoftReference<TokenMasks>> kept = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<HeldCalls, BitSet> holdable = new LinkedHashMap<>(16, 0.75f, true);
    private final long[] anyButEnd;
    private @Nullable Vocabulary vocabulary; // made when first needed
    private @Nullable SpecialOctets special; // likewise

    /** Writes schemas; apart, because most engines never write one, and its classes take a cold start 0.2 s. */
    private static final class Written {
        private static final JsonMapper JSON = new JsonMapper();

        private Written() {}
    }

    /** What makes a constraint, and may refuse. */
    private interface Maker {
        Constraint make();
    }

    /**
     * The formats of an engine.
     *
     * @param size number of logits
     * @param endTokens with which the model ends its answers
     */
    public CompiledFormats(Tokenizer tokenizer, int size, int[] endTokens) {
        this(tokenizer, size, endTokens, GrammarLimits.DEFAULTS);
    }

    CompiledFormats(Tokenizer tokenizer, int size, int[] endTokens, GrammarLimits limits) {
        this.tokenizer = tokenizer;
        this.size = size;
        this.endTokens = endTokens.clone();
        this.limits = limits;
        anyButEnd = new long[(size + 63) >>> 6];
        for (int id = 0; id < size; id++) {
            anyButEnd[id >>> 6] |= 1L << id;
        }
        for (int id : endTokens) {
            anyButEnd[id >>> 6] &= ~(1L << id);
        }
    }

    /**
     * The masks of a format.
     *
     * @throws InvalidRequestException if it is no format, says what is not supported, allows no text, or costs too much
     */
    public FormatMasks compile(ResponseFormat format) {
        return compile(FIELD, format, () -> constraint(format));
    }

    /**
     * The masks of answers that may call tools.
     *
     * @throws InvalidRequestException if a schema cannot be kept to, or the format has parts that cannot be held to one
     */
    public FormatMasks compileCalls(HeldCalls calls) {
        String field = calls.mustCall() ? "tool_choice" : "tools";
        if (!calls.unwritableName().isEmpty()) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    field,
                    "this model writes calls as Python does, and " + calls.unwritableName() + " is no name there");
        }
        if (!calls.mustCall()) {
            requireHoldable(calls);
        }
        FormatMasks masks = compile(
                field,
                calls,
                () -> new ShapeCompiler(special(), endTokens, calls.format().literals(), limits)
                        .compile(
                                calls.shape(),
                                calls.content() instanceof ResponseFormat.Text ? null : held(calls.content())));
        return masks.withoutInLead(special().tokenOf(calls.format().firstMark()));
    }

    /** Whether the model's format can write the names of tools and of their parameters. */
    public boolean canWrite(HeldCalls calls) {
        return calls.unwritableName().isEmpty();
    }

    /** Which of the tools can be called as they say, each held to its schema; found once, and no masks are made for it. */
    public BitSet holdable(HeldCalls calls) {
        BitSet known = knownHoldable(calls);
        if (known == null) {
            known = new BitSet();
            for (int tool = 0; tool < calls.tools().size(); tool++) {
                known.set(tool, canHold(calls.only(tool)));
            }
            keepHoldable(calls, known);
        }
        return known;
    }

    private synchronized @Nullable BitSet knownHoldable(HeldCalls calls) {
        return holdable.get(calls);
    }

    private synchronized void keepHoldable(HeldCalls calls, BitSet which) {
        holdable.put(calls, which);
        if (holdable.size() > KEPT) {
            holdable.remove(holdable.keySet().iterator().next());
        }
    }

    private boolean canHold(HeldCalls calls) {
        try {
            requireHoldable(calls);
            new ShapeCompiler(special(), endTokens, calls.format().literals(), limits).compile(calls.shape());
            return true;
        } catch (InvalidRequestException | GrammarException | StackOverflowError _) {
            return false;
        }
    }

    /** Refuses tools whose calls cannot be held to what they say, with the name of the tool. */
    private void requireHoldable(HeldCalls calls) {
        if (calls.isUnmarked()) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    "tools",
                    "this model marks no calls, so that they cannot be told from text: leave strict out, or force a call"
                            + " with tool_choice");
        }
        for (Map<String, Object> tool : calls.tools()) {
            if (!Tools.isStrict(tool)) {
                continue;
            }
            String keyword = calls.writesProperties() ? Tools.unwritten(tool) : "";
            if (!keyword.isEmpty()) {
                throw new InvalidRequestException(
                        Reason.UNSUPPORTED,
                        "tools",
                        "the parameters of the strict tool " + Tools.name(tool) + " cannot be kept to: at '', keyword '"
                                + keyword + "': this model writes the properties of a call one by one, and no more"
                                + " than they can be held to a schema");
            }
            try {
                Constraints.jsonSchema(
                        Written.JSON.writeValueAsString(Tools.schema(tool)), SchemaOptions.GENERATING, limits);
            } catch (GrammarException refused) {
                throw refusal("tools", "the parameters of the strict tool " + Tools.name(tool), refused);
            }
        }
    }

    private FormatMasks compile(String field, Object asked, Maker maker) {
        TokenMasks known = known(asked);
        if (known == null) {
            known = make(field, maker);
            keep(asked, known);
        }
        return new FormatMasks(known, endTokens.length, anyButEnd);
    }

    private synchronized @Nullable TokenMasks known(Object format) {
        SoftReference<TokenMasks> reference = kept.get(format);
        return reference == null ? null : reference.get();
    }

    private synchronized void keep(Object format, TokenMasks masks) {
        kept.put(format, new SoftReference<>(masks));
        if (kept.size() > KEPT) {
            kept.remove(kept.keySet().iterator().next());
        }
    }

    private TokenMasks make(String field, Maker maker) {
        try {
            TokenMasks masks = new TokenMasks(maker.make(), vocabulary());
            requireText(field, masks);
            return masks;
        } catch (GrammarException refused) {
            throw refusal(field, "the format", refused);
        } catch (StackOverflowError tooDeep) {
            throw new InvalidRequestException(Reason.UNSUPPORTED, field, "the format is nested too deep");
        }
    }

    /** Computes the first mask here and not on the engine's thread, and refuses what a model's first token cannot begin. */
    private void requireText(String field, TokenMasks masks) {
        var matcher = masks.matcher();
        int most = matcher.isAccepting() ? endTokens.length : 0;
        if (matcher.mask().count() == most) {
            String why = matcher.isAccepting()
                    ? "allows no text but the empty one"
                    : "allows nothing that the model's tokens can write";
            throw new InvalidRequestException(Reason.INVALID, field, "the format " + why);
        }
    }

    private static InvalidRequestException refusal(String field, String what, GrammarException refused) {
        Reason reason = switch (refused.reason()) {
            case INVALID, EMPTY -> Reason.INVALID;
            case UNSUPPORTED, BUDGET -> Reason.UNSUPPORTED;
        };
        return new InvalidRequestException(reason, field, what + " cannot be kept to: " + refused.getMessage());
    }

    /** A format as a part of a shape. */
    private ShapeCompiler.Content held(ResponseFormat format) {
        boolean isOneLexeme = format instanceof ResponseFormat.Regex || format instanceof ResponseFormat.Choice;
        return new ShapeCompiler.Content(constraint(format), isOneLexeme);
    }

    private Constraint constraint(ResponseFormat format) {
        return switch (format) {
            case ResponseFormat.Text _ -> throw new IllegalArgumentException("any text needs no masks");
            case ResponseFormat.JsonObject(var options) -> Constraints.jsonObject(options(options), limits);
            case ResponseFormat.JsonSchema(var schema, var options) ->
                Constraints.jsonSchema(schema, options(options), limits);
            case ResponseFormat.Regex(var expression) -> Constraints.regex(expression, limits);
            case ResponseFormat.Grammar(var grammar) -> Constraints.grammar(grammar, limits);
            case ResponseFormat.StructuralTag(var tag) -> new StructuralTags(special(), endTokens, limits).compile(tag);
            case ResponseFormat.Choice(var texts) -> Constraints.choice(texts, limits);
        };
    }

    /** Does now what the first answers under a format would wait for; returns how many made-up answers were followed to their end. */
    public int rehearse() {
        var others = new CompiledFormats(tokenizer, size, endTokens, limits); // those that were asked for stay
        others.share(vocabulary(), special());
        return Rehearsal.follow(others, tokenizer);
    }

    private synchronized void share(Vocabulary known, SpecialOctets marks) {
        vocabulary = known;
        special = marks;
    }

    private static SchemaOptions options(ResponseFormat.JsonOptions asked) {
        SchemaOptions usual = SchemaOptions.GENERATING;
        var whitespace = switch (asked.whitespace()) {
            case NONE -> SchemaOptions.Whitespace.NONE;
            case BOUNDED -> SchemaOptions.Whitespace.BOUNDED;
        };
        var order = switch (asked.keyOrder()) {
            case ANY -> SchemaOptions.KeyOrder.ANY;
            case SCHEMA -> SchemaOptions.KeyOrder.SCHEMA;
        };
        return new SchemaOptions(whitespace, usual.allowsAnyEscape(), order, usual.assertsFormats(), usual.documents());
    }

    private synchronized Vocabulary vocabulary() {
        Vocabulary known = vocabulary;
        if (known == null) {
            known = new Vocabulary(octets(), endTokens);
            vocabulary = known;
        }
        return known;
    }

    /** The bytes of each token, those of special ones being such as no text has. */
    private byte[][] octets() {
        var octets = new byte[size][];
        Arrays.fill(octets, new byte[0]);
        for (int id = 0; id < Math.min(size, tokenizer.vocabularySize()); id++) {
            if (tokenizer.hasToken(id)) {
                octets[id] =
                        tokenizer.isSpecial(id) ? SpecialOctets.of(id) : SpecialOctets.plain(tokenizer.bytesOf(id));
            }
        }
        return octets;
    }

    private synchronized SpecialOctets special() {
        SpecialOctets known = special;
        if (known == null) {
            known = SpecialOctets.of(tokenizer, size);
            special = known;
        }
        return known;
    }
}
