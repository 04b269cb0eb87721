package roselle.structured;

import java.util.Locale;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.TokenMatcher;
import roselle.grammar.mask.Vocabulary;
import roselle.grammar.schema.SchemaOptions;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/**
 * Answers under schemas that nobody asked for, followed before anyone asks: classes are then loaded, much is compiled, and what the masks
 * of all schemas share is known.
 */
final class Rehearsal {
    /** So many bring most of what more would bring. */
    static final int ANSWERS = 20;

    private Rehearsal() {}

    /** Follows all answers; returns how many of them were allowed to their end. */
    static int follow(Tokenizer tokenizer, Vocabulary vocabulary) {
        int whole = 0;
        for (int i = 1; i <= ANSWERS; i++) {
            String schema = String.format(Locale.ROOT, """
                    {"type": "object", "additionalProperties": false, "required": ["name", "kind"], "properties": {
                     "name": {"type": "string", "maxLength": %d},
                     "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z ]+$"}, "maxItems": %d},
                     "size": {"type": "number", "minimum": 0}, "kind": {"enum": ["small", "large %d"]},
                     "at": {"type": "object", "properties": {"line": {"type": "integer"}, "note": {"type": "string"}}}}}
                    """, 30 + i, 3 + i, i);
            String text = String.format(Locale.ROOT, """
                    {"name": "An example of %d", "tags": ["red", "green and blue"], "size": 12.5, "kind": "small", "at": {"line": 17}}\
                    """, i);
            var masks = new TokenMasks(
                    Constraints.jsonSchema(schema, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS), vocabulary);
            whole += isWhole(masks.matcher(), tokenizer.encode(text, EncodeOptions.PLAIN)) ? 1 : 0;
        }
        return whole;
    }

    private static boolean isWhole(TokenMatcher matcher, int[] tokens) {
        for (int token : tokens) {
            if (!matcher.mask().allows(token) || !matcher.advance(token)) {
                return false; // a tokenizer that writes texts in another way
            }
        }
        return matcher.isAccepting();
    }
}
