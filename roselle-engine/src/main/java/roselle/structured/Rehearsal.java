package roselle.structured;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
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
public final class Rehearsal {
    /** So many bring most of what more would bring. */
    static final int ANSWERS = 20;

    /** So many have most of the code compiled as well as it will be; without a model, while nobody waits. */
    private static final int ANSWERS_BEFORE = 200;

    private static final String SYLLABLES =
            "an be co du es fi go ha in ju ke li mo ne or pu re si te ul va we xi yo ze";
    private static final String MARKS = "{\" \"} \": \":\" \", \",\" [\" \"] [] {} }, ], : , . \\\" \\n";

    private Rehearsal() {}

    /** Follows answers over made-up tokens, for a JVM that has no model yet; returns how many of them were allowed to their end. */
    public static int followWithoutModel() {
        Map<String, Integer> ids = new HashMap<>();
        List<byte[]> tokens = new ArrayList<>();
        for (int octet = 0; octet < 256; octet++) {
            tokens.add(new byte[] {(byte) octet});
        }
        for (char letter = 1; letter < 0x80; letter++) {
            ids.put(String.valueOf(letter), (int) letter);
        }
        Set<String> words = new LinkedHashSet<>(List.of(MARKS.split(" ")));
        for (String first : SYLLABLES.split(" ")) {
            for (String second : SYLLABLES.split(" ")) {
                words.addAll(List.of(first, ' ' + first, first + second, ' ' + first + second));
            }
        }
        for (String word : words) {
            ids.put(word, tokens.size());
            tokens.add(word.getBytes(StandardCharsets.UTF_8));
        }
        var vocabulary = new Vocabulary(tokens.toArray(byte[][]::new), new int[] {0});
        return follow(text -> longestFirst(text, ids), vocabulary, ANSWERS_BEFORE);
    }

    /** The tokens of a text, the longest that fits first. */
    private static int[] longestFirst(String text, Map<String, Integer> ids) {
        int[] tokens = new int[text.length()];
        int size = 0;
        int end;
        for (int at = 0; at < text.length(); at = end) {
            end = Math.min(text.length(), at + 6);
            while (!ids.containsKey(text.substring(at, end))) {
                end--;
            }
            tokens[size++] = Objects.requireNonNull(ids.get(text.substring(at, end)));
        }
        return Arrays.copyOf(tokens, size);
    }

    /** Follows all answers; returns how many of them were allowed to their end. */
    static int follow(Tokenizer tokenizer, Vocabulary vocabulary) {
        return follow(text -> tokenizer.encode(text, EncodeOptions.PLAIN), vocabulary, ANSWERS);
    }

    private static int follow(Function<String, int[]> encode, Vocabulary vocabulary, int answers) {
        int whole = 0;
        for (int i = 1; i <= answers; i++) {
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
            whole += isWhole(masks.matcher(), encode.apply(text)) ? 1 : 0;
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
