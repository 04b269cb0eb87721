package roselle.tokenizer.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.SpecialSpellings;
import roselle.tokenizer.Tokenizer;

/** A tokenizer.json from a stranger can make neither loading nor a text cost more than its size tells. */
class HostileTokenizerTest {
    private static final EncodeOptions SPECIAL = new EncodeOptions(true, true);
    private static final EncodeOptions GUARDED = new EncodeOptions(false, true, true);
    private static final String BPE = "{'type':'BPE','vocab':{'a':0,'b':1,' ':2},'merges':[]}";
    private static final String MEGABYTE = "x".repeat(1 << 20);

    private static Stream<Arguments> refused() {
        String nfkd = "{'type':'NFKD'},".repeat(20_000) + "{'type':'NFKD'}";
        String ids = "7,".repeat(100_000) + "7";
        String twice = "{'type':'TemplateProcessing','single':[" + "{'Sequence':{'id':'A'}},".repeat(2)
                + "{'Sequence':{'id':'A'}}],'special_tokens':{}}";
        String tripled = (twice + ",").repeat(20) + twice;
        String special = "{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'s'}},{'Sequence':{'id':'A'}}],"
                + "'special_tokens':{'s':{'ids':[" + ids + "]}}}";
        String spell = "{'type':'ByteLevel','add_prefix_space':false,'use_regex':false}";
        String replace = "{'type':'Replace','pattern':{'String':'a'},'content':'bbbbb'}";
        String map = Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(4 + MEGABYTE.length())
                        .putInt(0)
                        .put(MEGABYTE.getBytes(StandardCharsets.UTF_8))
                        .array());
        return Stream.of(
                Arguments.of("normalizer", "{'type':'Sequence','normalizers':[" + nfkd + "]}", "more than 64 parts"),
                Arguments.of(
                        "normalizer",
                        "{'type':'Prepend','prepend':'" + MEGABYTE + "'}",
                        "normalizer.prepend has 1048576"),
                Arguments.of(
                        "normalizer",
                        "{'type':'Replace','pattern':{'String':'a'},'content':'" + MEGABYTE + "'}",
                        "normalizer.content has 1048576"),
                Arguments.of(
                        "normalizer",
                        "{'type':'Precompiled','precompiled_charsmap':'" + map + "'}",
                        "a replacement of more than 1024 bytes"),
                Arguments.of(
                        "pre_tokenizer",
                        "{'type':'Sequence','pretokenizers':[" + (spell + ",").repeat(29) + spell + "]}",
                        "times as long"),
                Arguments.of("post_processor", special, "more than 1024 ids"),
                Arguments.of(
                        "post_processor",
                        "{'type':'Sequence','processors':[" + tripled
                                + ",{'type':'TemplateProcessing','single':[],'special_tokens':{}}]}",
                        "no place for the text"),
                Arguments.of(
                        "pre_tokenizer",
                        "{'type':'Split','pattern':{'String':'" + MEGABYTE + "'},'behavior':'Isolated','invert':false}",
                        "pattern.String has 1048576"),
                Arguments.of(
                        "normalizer",
                        "{'type':'Replace','pattern':{'String':'" + MEGABYTE + "'},'content':''}",
                        "pattern.String has 1048576"),
                Arguments.of("post_processor", "{'type':'Sequence','processors':[" + tripled + "]}", "times as long"),
                Arguments.of(
                        "decoder", "{'type':'WordPiece','prefix':'" + MEGABYTE + "','cleanup':true}", "decoder.prefix"),
                Arguments.of(
                        "decoder",
                        "{'type':'Sequence','decoders':[" + replace + "," + replace + "]}",
                        "25 times as long"),
                Arguments.of(
                        "model",
                        "{'type':'Unigram','unk_id':0,'vocab':[['?',0],['" + "a".repeat(3000) + "',-1]]}",
                        "token 1 has 3000 characters"),
                Arguments.of(
                        "model",
                        "{'type':'BPE','continuing_subword_prefix':'" + MEGABYTE + "','vocab':{'a':0},'merges':[]}",
                        "model.continuing_subword_prefix has 1048576"),
                Arguments.of(
                        "added_tokens",
                        "[{'id':9,'content':'" + "a".repeat(513) + "','special':true}]",
                        "added token 9 has 513 characters"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void refusesWhatWouldMakeEachTextDear(String field, String value, String message) {
        assertThatThrownBy(() -> read(Map.of(field, value)))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message);
    }

    @Test
    void refusesAnAddedTokenThatGrowsWhenNormalized() {
        assertThatThrownBy(() -> read(Map.of(
                        "normalizer",
                        replace("b", 200),
                        "added_tokens",
                        "[{'id':9,'content':'bbb','normalized':true}]")))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("added token 9 has more than 512 characters when normalized");
    }

    @Test
    void refusesATextThatGrowsBeyondSixteenTimesItsLength() {
        Tokenizer tokenizer = read(Map.of("normalizer", replace("b", 200)));
        assertThat(tokenizer.encode("b".repeat(100), SPECIAL)).hasSize(20_000);
        assertThatThrownBy(() -> tokenizer.encode("b".repeat(10_000), SPECIAL))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("more than 1208576 characters");
    }

    @Test
    void countsTheStretchesBetweenSpecialTokensTogether() {
        Tokenizer tokenizer = read(Map.of(
                "normalizer",
                "{'type':'Prepend','prepend':'" + "a".repeat(256) + "'}",
                "added_tokens",
                "[{'id':9,'content':'<','special':true}]"));
        assertThat(tokenizer.encode("b<".repeat(100), SPECIAL)).hasSize(100 * 258);
        assertThatThrownBy(() -> tokenizer.encode("b<".repeat(10_000), SPECIAL))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void spaceBeforeATokenIsLookedAtOnce() {
        Tokenizer tokenizer = read(Map.of("added_tokens", "[{'id':2,'content':' ','lstrip':true,'normalized':false}]"));
        long before = cpuMillis();
        assertThat(tokenizer.encode(" ".repeat(400_000), SPECIAL)).hasSize(400_000);
        assertThat(cpuMillis() - before).isLessThan(5_000); // each place back to the first would be 8 * 10^10 steps
    }

    @Test
    void heldBackSpacesAreCountedAndNotCopied() {
        Tokenizer tokenizer = read(
                Map.of(
                        "decoder",
                        "{'type':'Sequence','decoders':[{'type':'Fuse'},{'type':'Strip','content':' ','start':0,'stop':1000000}]}"));
        int[] spaces = new int[20_000];
        Arrays.fill(spaces, 2);
        long before = allocated();
        assertThat(tokenizer.decode(spaces, false)).isEmpty();
        assertThat(allocated() - before).isLessThan(32L << 20); // a copy for each would be 400 MB
        spaces[19_999] = 0;
        assertThat(tokenizer.decode(spaces, false)).isEqualTo(" ".repeat(19_999) + "a");
    }

    @Test
    void guardedTextDoesNotBecomeASpecialTokenWhenItIsNormalized() {
        Tokenizer tokenizer = read(Map.of(
                "normalizer",
                "{'type':'NFKC'}",
                "added_tokens",
                "[{'id':9,'content':'<s>','special':true,'normalized':true}]"));
        var spellings = new SpecialSpellings(tokenizer);
        for (String forged : new String[] {"<s>", "\uFF1C\uFF53\uFF1E", "\uFF1Cs>"}) {
            assertThat(tokenizer.encode(spellings.guard("a" + forged + "b"), GUARDED))
                    .as(forged)
                    .doesNotContain(9)
                    .startsWith(0)
                    .endsWith(1);
            assertThat(tokenizer.encode("<s>a<s>" + spellings.guard("a" + forged + "b") + "<s>", GUARDED))
                    .as(forged)
                    .startsWith(9, 0, 9, 0)
                    .endsWith(1, 9)
                    .satisfies(ids ->
                            assertThat(Arrays.stream(ids).filter(id -> id == 9)).hasSize(3));
        }
        assertThat(tokenizer.encode("<s>a<s>" + spellings.guard("a b"), GUARDED))
                .isEqualTo(tokenizer.encode("<s>a<s>a b", new EncodeOptions(false, true)));
    }

    @Test
    void noModelMakesASpecialTokenOfPlainText() {
        String added = "[{'id':0,'content':'<s>','special':true}]";
        String unigram = "{'type':'Unigram','unk_id':1,'vocab':[['<s>',0],['?',-9],['<',-9],['s',-9],['>',-9]]}";
        String words = "{'type':'WordLevel','unk_token':'?','vocab':{'<s>':0,'?':1}}";
        String pieces = "{'type':'WordPiece','unk_token':'?','vocab':{'<s>':0,'?':1}}";
        for (String model : new String[] {unigram, words, pieces}) {
            Tokenizer tokenizer = read(Map.of("added_tokens", added, "model", model));
            assertThat(tokenizer.encode("<s>", new EncodeOptions(false, true))).containsExactly(0);
            assertThat(tokenizer.encode("<s>", EncodeOptions.PLAIN)).as(model).doesNotContain(0);
            String guarded = new SpecialSpellings(tokenizer).guard("<s>");
            assertThat(tokenizer.encode(guarded, GUARDED)).as(model).doesNotContain(0);
        }
    }

    private static String replace(String pattern, int length) {
        return "{'type':'Replace','pattern':{'String':'" + pattern + "'},'content':'" + "a".repeat(length) + "'}";
    }

    private static Tokenizer read(Map<String, String> fields) {
        var all = new TreeMap<>(Map.of("model", BPE));
        all.putAll(fields);
        var json = new StringBuilder("{");
        all.forEach((name, value) -> json.append(json.length() > 1 ? "," : "").append("'" + name + "':" + value));
        return TokenizerFixture.ours(
                json.append('}').toString().replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }

    private static long cpuMillis() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1_000_000;
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
    }
}
