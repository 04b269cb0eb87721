package roselle.tokenizer.unicode;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.lang.Character.UnicodeScript;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.format.TokenizerFixture;
import roselle.tokenizer.model.ByteTokens;

/** Every code point passes every normalizer and pre-tokenizer by property as in Hugging Face's library. */
@Tag("long")
class ReferenceUnicodeTest {
    private static final String SCRIPTS = "{'type':'UnicodeScripts'}";
    private static final int BLOCK = 128;
    private static final int FIRST_EMPTY_PLANE = 0x40000; // until the planes of tags and private use
    private static final int AFTER_EMPTY_PLANES = 0xE0000;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'NFC'}",
                "{'type':'NFD'}",
                "{'type':'NFKC'}",
                "{'type':'NFKD'}",
                "{'type':'Lowercase'}",
                "{'type':'StripAccents'}",
                "{'type':'Nmt'}",
                "{'type':'Strip','strip_left':true,'strip_right':true}",
                "{'type':'BertNormalizer','clean_text':true,'handle_chinese_chars':true,'strip_accents':false,'lowercase':false}",
                "{'type':'BertNormalizer','clean_text':false,'handle_chinese_chars':false,'strip_accents':true,'lowercase':true}"
            })
    void normalizesEveryCodePointAsTheLibraryDoes(String normalizer) {
        // a mark of high and one of low combining class at either side show the order of marks
        compare(normalizer, "null", "a\u0345", "\u0334");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'BertPreTokenizer'}",
                "{'type':'Punctuation','behavior':'Isolated'}",
                "{'type':'Digits','individual_digits':true}",
                "{'type':'Whitespace'}",
                "{'type':'WhitespaceSplit'}"
            })
    void splitsAtEveryCodePointAsTheLibraryDoes(String preTokenizer) {
        compare("null", preTokenizer, "a", "b");
    }

    /** Alone after two scripts, then side by side, each code point shows whether it has a script of its own. */
    @Test
    void cutsAtScriptsAsTheLibraryDoes() {
        compare("null", SCRIPTS, "a", "\u03b1");
        compare("null", SCRIPTS, "\u0915", "\u03b1");
        compare("null", SCRIPTS, "", "");
    }

    /** The first code point of each stretch of one script, beside one of each script. */
    @Test
    void tellsEachScriptFromEachOtherAsTheLibraryDoes() {
        var starts = new ArrayList<Integer>();
        var oneOfEach = new EnumMap<UnicodeScript, Integer>(UnicodeScript.class);
        Optional<UnicodeScript> last = Optional.empty();
        for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
            Optional<UnicodeScript> script = ReferenceScripts.of(codePoint);
            if (script.isPresent() && !script.equals(last)) {
                starts.add(codePoint);
                oneOfEach.putIfAbsent(script.get(), codePoint);
                last = script;
            }
        }
        assertThat(oneOfEach).hasSizeGreaterThan(100);
        byte[] json = json("null", SCRIPTS);
        Tokenizer ours = TokenizerFixture.ours(json);
        try (HuggingFaceTokenizer theirs = TokenizerFixture.theirs(json)) {
            for (int one : oneOfEach.values()) {
                var text = new StringBuilder();
                starts.forEach(start -> text.appendCodePoint(one).appendCodePoint(start));
                assertSame(ours, theirs, text.toString(), one);
            }
        }
    }

    private static void compare(String normalizer, String preTokenizer, String before, String after) {
        byte[] json = json(normalizer, preTokenizer);
        Tokenizer ours = TokenizerFixture.ours(json);
        try (HuggingFaceTokenizer theirs = TokenizerFixture.theirs(json)) {
            for (int from = 0; from <= Character.MAX_CODE_POINT; from = next(from)) {
                var text = new StringBuilder();
                for (int codePoint = from; codePoint < from + BLOCK; codePoint++) {
                    boolean isSurrogate = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
                    text.append(before)
                            .appendCodePoint(isSurrogate ? '-' : codePoint)
                            .append(after);
                }
                assertSame(ours, theirs, text.toString(), from);
            }
        }
    }

    private static void assertSame(Tokenizer ours, HuggingFaceTokenizer theirs, String text, int from) {
        long[] expected = theirs.encode(text, false, false).getIds();
        int[] actual = ours.encode(text, EncodeOptions.PLAIN);
        assertThat(Arrays.stream(actual).asLongStream().toArray())
                .as("from U+%X", from)
                .isEqualTo(expected);
    }

    private static int next(int from) {
        return from + BLOCK == FIRST_EMPTY_PLANE ? AFTER_EMPTY_PLANES : from + BLOCK;
    }

    /** A model without merges, whose ids are the bytes that the normalizer left. */
    private static byte[] json(String normalizer, String preTokenizer) {
        String alphabet = IntStream.range(0, 256)
                .mapToObj(value -> "\"" + ByteTokens.spelling(value) + "\":" + value)
                .collect(Collectors.joining(","));
        String splits = preTokenizer.equals("null")
                ? "null"
                : "{'type':'Sequence','pretokenizers':[" + preTokenizer
                        + ",{'type':'Metaspace','replacement':'_','prepend_scheme':'always','split':false}]}";
        String json = "{'version':'1.0','truncation':null,'padding':null,'added_tokens':[],'normalizer':" + normalizer
                + ",'pre_tokenizer':" + splits + ",'post_processor':null,'decoder':null,'model':{'type':'BPE',"
                + "'dropout':null,'unk_token':null,'continuing_subword_prefix':null,'end_of_word_suffix':null,"
                + "'fuse_unk':false,'byte_fallback':true,'ignore_merges':false,'merges':[],'vocab':{";
        return (json.replace('\'', '"') + alphabet + "}}}").getBytes(StandardCharsets.UTF_8);
    }
}
