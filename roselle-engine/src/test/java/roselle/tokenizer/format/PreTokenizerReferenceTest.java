package roselle.tokenizer.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.tokenizer.GgufAsTokenizerJson;
import roselle.tokenizer.HuggingFaceReference;
import roselle.tokenizer.RandomText;
import roselle.tokenizer.pretokenizer.PatternPreTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizers;
import roselle.tokenizer.pretokenizer.SequencePreTokenizer;
import roselle.tokenizer.pretokenizer.SplitBehavior;
import roselle.tokenizer.pretokenizer.WordScanner;

/** Every pre-tokenizer cuts where Hugging Face's library cuts. */
class PreTokenizerReferenceTest {
    private static final long SEED = 99;
    private static final int TEXTS = 1_500;

    private static final List<String> ODD_PATTERNS = List.of(
            "[^a-m&&[a-z]]+",
            "(?i:k|sa|[x-z])",
            "(?<=e)l|(?<!\\s)o",
            "\\bt|e\\b",
            "^.",
            ".$",
            "\\A\\w|\\W\\z",
            ".\\Z",
            "[[:punct:]&&[^_]]",
            "[[:alnum:]]+",
            "[[:space:]]",
            "[[:upper:]]|[[:lower:]]+",
            "[[:cntrl:]]",
            "(?m:a.*?e)",
            "(?:e|)*l",
            "(?i)[^k]",
            "\\p{Greek}|\\p{Cyrillic}+",
            "\\p{^Lu}{2,3}?",
            "a|",
            "\\S{0,2}");

    static Stream<Arguments> preTokenizers() {
        var cases = new ArrayList<Arguments>();
        cases.add(Arguments.of("{\"type\":\"Whitespace\"}", PreTokenizers.whitespace()));
        cases.add(Arguments.of("{\"type\":\"WhitespaceSplit\"}", PreTokenizers.whitespaceSplit()));
        cases.add(Arguments.of(
                "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"e\"}", PreTokenizers.charDelimiterSplit('e')));
        cases.add(Arguments.of("{\"type\":\"Digits\",\"individual_digits\":true}", PreTokenizers.digits(true)));
        cases.add(Arguments.of("{\"type\":\"Digits\",\"individual_digits\":false}", PreTokenizers.digits(false)));
        for (var flavor : WordScanner.Flavor.values()) {
            cases.add(Arguments.of(
                    GgufAsTokenizerJson.split(flavor.pattern()),
                    PreTokenizers.split(flavor.pattern(), SplitBehavior.ISOLATED, false)));
        }
        for (String name : List.of(
                "tekken",
                "gpt-4o",
                "tiny_aya",
                "deepseek-v3",
                "deepseek-llm",
                "qwen35",
                "bailingmoe",
                "seed-coder",
                "exaone-moe",
                "jais-2",
                "bloom",
                "viking",
                "youtu",
                "superbpe",
                "chameleon",
                "minicpm5")) {
            cases.add(Arguments.of(
                    sequence(GgufPreTokenizers.named(name).preTokenizer()),
                    GgufPreTokenizers.named(name).preTokenizer()));
        }
        for (String pattern : ODD_PATTERNS) {
            cases.add(Arguments.of(
                    GgufAsTokenizerJson.split(pattern), PreTokenizers.split(pattern, SplitBehavior.ISOLATED, false)));
        }
        for (var behavior : SplitBehavior.values()) {
            String name = name(behavior);
            for (boolean invert : new boolean[] {false, true}) {
                String pattern = "\\w*\\d|[^\\w\\s]+|\\h{2}";
                cases.add(Arguments.of(
                        GgufAsTokenizerJson.split(pattern)
                                .replace("\"Isolated\"", "\"" + name + "\"")
                                .replace("\"invert\":false", "\"invert\":" + invert),
                        PreTokenizers.split(pattern, behavior, invert)));
            }
        }
        return cases.stream();
    }

    private static String name(SplitBehavior behavior) {
        return switch (behavior) {
            case REMOVED -> "Removed";
            case ISOLATED -> "Isolated";
            case MERGED_WITH_PREVIOUS -> "MergedWithPrevious";
            case MERGED_WITH_NEXT -> "MergedWithNext";
            case CONTIGUOUS -> "Contiguous";
        };
    }

    /** The JSON of pre-tokenizers that are made of patterns. */
    private static String sequence(PreTokenizer preTokenizer) {
        return switch (preTokenizer) {
            case PatternPreTokenizer split ->
                GgufAsTokenizerJson.split(split.pattern().source());
            case WordScanner scanner ->
                GgufAsTokenizerJson.split(scanner.flavor().pattern());
            case SequencePreTokenizer sequence ->
                "{\"type\":\"Sequence\",\"pretokenizers\":["
                        + String.join(
                                ",",
                                sequence.parts().stream()
                                        .map(PreTokenizerReferenceTest::sequence)
                                        .toList())
                        + "]}";
            default -> throw new IllegalArgumentException(preTokenizer.toString());
        };
    }

    @ParameterizedTest
    @MethodSource("preTokenizers")
    void cutsWhereTheReferenceCuts(String json, PreTokenizer preTokenizer) throws IOException {
        System.out.println("seed " + SEED);
        var random = new RandomText(SEED);
        try (var reference = HuggingFaceReference.ofPreTokenizer(json)) {
            for (int i = 0; i < TEXTS; i++) {
                String text = random.next();
                assertThat(pieces(preTokenizer, text))
                        .as("text %d: %s", i, text)
                        .isEqualTo(reference.pieces(text));
            }
        }
    }

    private static List<List<Integer>> pieces(PreTokenizer preTokenizer, String text) {
        var pieces = new ArrayList<List<Integer>>();
        preTokenizer.split(
                text,
                0,
                text.length(),
                true,
                (piece, start, end, first) ->
                        pieces.add(List.of(text.codePointCount(0, start), text.codePointCount(0, end))));
        return pieces;
    }
}
