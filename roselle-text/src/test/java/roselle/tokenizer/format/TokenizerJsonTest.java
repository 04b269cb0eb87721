package roselle.tokenizer.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/** What tokenizer.json may say, and how what it must not say is refused. */
class TokenizerJsonTest {
    private static final String SMALL = "{'added_tokens':[{'id':3,'content':'<s>','special':true}],'normalizer':null,"
            + "'pre_tokenizer':{'type':'Whitespace'},'post_processor':null,'decoder':null,"
            + "'model':{'type':'BPE','unk_token':null,'vocab':{'a':0,'b':1,'ab':2},'merges':['a b']}}";

    @Test
    void readsBothFormsOfMerges() {
        Tokenizer joined = read(SMALL);
        Tokenizer pairs = read(SMALL.replace("'a b'", "['a','b']"));
        assertThat(joined.encode("ab a", EncodeOptions.PLAIN)).containsExactly(2, 0);
        assertThat(pairs.encode("ab a", EncodeOptions.PLAIN)).containsExactly(2, 0);
    }

    @Test
    void readsFieldsInAnyOrder() {
        String mergesFirst = SMALL.replace(
                "'vocab':{'a':0,'b':1,'ab':2},'merges':['a b']", "'merges':['a b']," + "'vocab':{'ab':2,'b':1,'a':0}");
        assertThat(read(mergesFirst).encode("ab", EncodeOptions.PLAIN)).containsExactly(2);
    }

    @Test
    void keepsSpecialSpellingsAsTextUnlessAsked() {
        Tokenizer tokenizer = read(SMALL);
        assertThat(tokenizer.encode("a<s>b", new EncodeOptions(false, true))).containsExactly(0, 3, 1);
        assertThat(tokenizer.encode("a<s>b", EncodeOptions.PLAIN)).doesNotContain(3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                {'type':'Whitespace'}   | {'type':'Blankspace'}   | pre_tokenizer.type is 'Blankspace'
                {'type':'Whitespace'}   | {'type':'Sequence','pretokenizers':[{'type':'Foo'}]} | pre_tokenizer.pretokenizers[0].type is 'Foo'
                {'type':'Whitespace'}   | {'type':'Digits'}       | pre_tokenizer.individual_digits is missing
                {'type':'Whitespace'}   | {'type':7}              | pre_tokenizer.type is 7.0
                {'type':'Whitespace'}   | {'type':'Split','pattern':{'Regex':'('},'behavior':'Isolated','invert':false} | pattern
                {'type':'Whitespace'}   | []                      | pre_tokenizer is an array
                'type':'BPE'            | 'type':'BPE','dropout':0.1 | model.dropout is 0.1
                'type':'BPE'            | 'type':'Markov'         | model.type is 'Markov'
                'unk_token':null        | 'unk_token':'?'         | unknown token '?'
                'b':1                   | 'b':0                   | token id 0 is given twice
                'b':1                   | 'b':2147483648          | model.vocab['b'] is 2147483648
                'b':1                   | 'b':2147483647          | token id 2147483647 is outside
                'b':1                   | 'b':-1                  | model.vocab['b'] is -1
                'b':1                   | 'b':1.5                 | model.vocab['b'] is 1.5
                'a b'                   | 'a x'                   | not in the vocabulary
                'a b'                   | 'a b c'                 | model.merges[0] is 'a b c'
                'a b'                   | ['a']                   | model.merges[0][1] is ]
                'a b'                   | 3                       | model.merges[0] is 3
                'id':3                  | 'id':1                  | gives that id to 'b'
                'id':3,                 | ''                      | added_tokens[0].id is missing
                'decoder':null          | 'decoder':{'type':'Hum'} | decoder.type is 'Hum'
                'post_processor':null   | 'post_processor':{'type':'Hum'} | post_processor.type is 'Hum'
                'normalizer':null       | 'normalizer':{'type':'Precompiled','precompiled_charsmap':'!'} | not base64
                'normalizer':null       | 'normalizer':{'type':'Precompiled','precompiled_charsmap':'/////w=='} | announces a trie
                'normalizer':null       | 'normalizer':{'type':'Replace','pattern':{'String':''},'content':'x'} | empty string
                """, quoteCharacter = '`')
    void refusesWithPathAndValue(String part, String replacement, String message) {
        String json = SMALL.replace(part, replacement.equals("''") ? "" : replacement);
        assertThat(json).isNotEqualTo(SMALL);
        assertThatThrownBy(() -> read(json))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message);
    }

    @Test
    void refusesEveryTruncation() {
        byte[] whole = bytes(SMALL);
        for (int length = 0; length < whole.length; length++) {
            byte[] truncated = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> TokenizerFixture.ours(truncated))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageStartingWith("tokenizer.json");
        }
    }

    @Test
    void refusesDeepNestingAndASecondDocument() {
        String deep = "[".repeat(100_000);
        assertThatThrownBy(() -> read("{'x':" + deep)).isInstanceOf(CheckpointException.class);
        assertThatThrownBy(() -> read(SMALL + "{}")).hasMessageContaining("goes on after its end");
    }

    @Test
    void configDecidesAboutBeginAndEndForLlama() {
        String config = "{'tokenizer_class':'LlamaTokenizer','add_bos_token':false,'add_eos_token':true,"
                + "'bos_token':'<s>','eos_token':{'content':'<s>'}}";
        Tokenizer tokenizer = TokenizerJson.read(
                new ByteArrayInputStream(bytes(SMALL)),
                "tokenizer.json",
                TokenizerConfig.read(new ByteArrayInputStream(bytes(config)), "tokenizer_config.json"));
        assertThat(tokenizer.encode("ab", new EncodeOptions(true, false))).containsExactly(2, 3);
    }

    private static Tokenizer read(String json) {
        return TokenizerFixture.ours(bytes(json));
    }

    private static byte[] bytes(String json) {
        return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    }
}
