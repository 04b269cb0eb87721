package roselle.structured;

import java.lang.ref.SoftReference;
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
    private final Map<ResponseFormat, SoftReference<TokenMasks>> kept = new LinkedHashMap<>(16, 0.75f, true);
    private @Nullable Vocabulary vocabulary; // made when first needed
    private final long[] anyButEnd;

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
        TokenMasks known = known(format);
        if (known == null) {
            known = make(format);
            keep(format, known);
        }
        return new FormatMasks(known, endTokens.length, anyButEnd);
    }

    private synchronized @Nullable TokenMasks known(ResponseFormat format) {
        SoftReference<TokenMasks> reference = kept.get(format);
        return reference == null ? null : reference.get();
    }

    private synchronized void keep(ResponseFormat format, TokenMasks masks) {
        kept.put(format, new SoftReference<>(masks));
        if (kept.size() > KEPT) {
            kept.remove(kept.keySet().iterator().next());
        }
    }

    private TokenMasks make(ResponseFormat format) {
        try {
            TokenMasks masks = new TokenMasks(constraint(format), vocabulary());
            requireText(masks);
            return masks;
        } catch (GrammarException refused) {
            throw refusal(refused);
        } catch (StackOverflowError tooDeep) {
            throw new InvalidRequestException(Reason.UNSUPPORTED, FIELD, "the format is nested too deep");
        }
    }

    /** Computes the first mask here and not on the engine's thread, and refuses what a model's first token cannot begin. */
    private void requireText(TokenMasks masks) {
        var matcher = masks.matcher();
        int most = matcher.isAccepting() ? endTokens.length : 0;
        if (matcher.mask().count() == most) {
            String why = matcher.isAccepting()
                    ? "allows no text but the empty one"
                    : "allows nothing that the model's tokens can write";
            throw new InvalidRequestException(Reason.INVALID, FIELD, "the format " + why);
        }
    }

    private static InvalidRequestException refusal(GrammarException refused) {
        Reason reason = switch (refused.reason()) {
            case INVALID, EMPTY -> Reason.INVALID;
            case UNSUPPORTED, BUDGET -> Reason.UNSUPPORTED;
        };
        return new InvalidRequestException(reason, FIELD, "the format cannot be kept to: " + refused.getMessage());
    }

    private Constraint constraint(ResponseFormat format) {
        return switch (format) {
            case ResponseFormat.Text _ -> throw new IllegalArgumentException("any text needs no masks");
            case ResponseFormat.JsonObject(var options) -> Constraints.jsonObject(options(options), limits);
            case ResponseFormat.JsonSchema(var schema, var options) ->
                Constraints.jsonSchema(schema, options(options), limits);
            case ResponseFormat.Regex(var expression) -> Constraints.regex(expression, limits);
            case ResponseFormat.Choice(var texts) -> Constraints.choice(texts, limits);
        };
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
            known = Vocabulary.of(tokenizer, size, endTokens);
            vocabulary = known;
        }
        return known;
    }
}
