package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;

/** Structural tags allow what XGrammar's documentation says of them; apostrophes stand for quotation marks. */
final class StructuralTagsTest {
    private static final SpecialOctets SPECIAL = SpecialOctets.of(Map.of("<|call|>", 7, "<|done|>", 8, "<|eos|>", 9));
    private static final String TOOL = "{'type':'tag','begin':'<f=%s>','content':{'type':'json_schema','json_schema':"
            + "{'type':'object','properties':{'n':{'type':'%s'}},'required':['n'],'additionalProperties':false}},'end':'</f>'}";
    private static final String TOOLS =
            "[" + TOOL.formatted("one", "integer") + "," + TOOL.formatted("two", "boolean") + "]";

    private static Constraint compile(String format) {
        String tag = "{'type':'structural_tag','format':" + format + "}";
        return new StructuralTags(SPECIAL, new int[] {9}, GrammarLimits.DEFAULTS).compile(tag.replace('\'', '"'));
    }

    private static boolean accepts(Constraint constraint, String text) {
        State state = constraint.start();
        for (byte octet : SPECIAL.of(text.replace('\'', '"'))) {
            state = state.advance(octet & 0xFF);
            if (state == null) {
                return false;
            }
        }
        return state.isAccepting();
    }

    private static void check(String format, String allowed, String refused) {
        Constraint constraint = compile(format);
        assertThat(texts(allowed)).allMatch(text -> accepts(constraint, text));
        assertThat(texts(refused)).noneMatch(text -> accepts(constraint, text));
    }

    /** Texts between tildes, of which ø stands for the empty one. */
    private static Stream<String> texts(String list) {
        return Arrays.stream(list.split("~")).map(text -> text.replace("ø", ""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '§', quoteCharacter = '`', textBlock = """
            {'type':'const_string','value':'ab'} § ab § a~abc~ø
            {'type':'regex','pattern':'[a-c]{2}'} § ab~cc § a~abc
            {'type':'grammar','grammar':'root ::= [0-9]+'} § 0~12 § a~ø
            {'type':'json_schema','json_schema':{'type':'boolean'}} § true § 1~True
            {'type':'or','elements':[{'type':'const_string','value':'a'},{'type':'regex','pattern':'b+'}]} § a~bbb § ab~ø
            {'type':'sequence','elements':[{'type':'regex','pattern':'a*'},{'type':'const_string','value':'ab'}]} § ab~aaab § a~b~abb
            {'type':'optional','content':{'type':'const_string','value':'a'}} § a~ø § aa
            {'type':'plus','content':{'type':'const_string','value':'ab'}} § ab~abab § aba~ø
            {'type':'star','content':{'type':'optional','content':{'type':'const_string','value':'ab'}}} § ab~abab~ø § aba
            {'type':'repeat','min':2,'max':3,'content':{'type':'regex','pattern':'a|b'}} § ab~aba § a~abab
            {'type':'repeat','min':1,'max':-1,'content':{'type':'regex','pattern':'a'}} § a~aaaa § ø~ab
            {'type':'repeat','min':0,'max':0,'content':{'type':'regex','pattern':'a'}} § ø § a
            {'type':'any_text','excludes':['no']} § ø~n o~yes § no~so not
            {'type':'any_tokens','exclude_tokens':['<|call|>',9]} § ø~<|done|> § a<|call|>
            {'type':'any_text','max_chars':2} § ø~a~ä😀 § abc
            {'type':'any_text','max_chars':0} § ø § a
            {'type':'tag','begin':'[','content':{'type':'any_text','max_chars':2},'end':'</t>'} § [</t>~[ab</t>~[</</t>~[a<</t> § [abc</t>~[</t~[ab
            {'type':'sequence','elements':[{'type':'any_text','max_chars':1},{'type':'const_string','value':'ab'}]} § ab~aab~xab § xxab~a
            {'type':'token','token':7} § <|call|> § <|done|>
            {'type':'sequence','elements':[{'type':'any_text'},{'type':'const_string','value':'x'}]} § x~axbx~xx § a~ø
            """)
    void aFormatAllowsItsTexts(String format, String allowed, String refused) {
        check(format, allowed, refused);
    }

    @Test
    void aTextWithinATagEndsWithItsFirstEnd() {
        String thought =
                "{'type':'tag','begin':'<t>','content':{'type':'any_text','excludes':['no']},'end':['</t>','</u>']}";
        check(thought, "<t></t>~<t>a < /t </u>~<t>n</t>", "<t>~<t>a</t>b</t>~<t>no</t>~a</t>");
        String tokens = "{'type':'tag','begin':{'type':'token','token':'<|call|>'},'content':{'type':'any_text'},"
                + "'end':{'type':'token','token':8}}";
        check(tokens, "<|call|><|done|>~<|call|>a<|done|>", "<|call|>a~<|call|><|call|><|done|>");
    }

    /** Each text is a token. */
    private static boolean acceptsTokens(Constraint constraint, String... tokens) {
        State state = constraint.start();
        for (String token : tokens) {
            for (byte octet : SPECIAL.of(token)) {
                state = state == null ? null : state.advance(octet & 0xFF);
            }
            state = state == null ? null : state.behindToken();
        }
        return state != null && state.isAccepting();
    }

    @Test
    void tokensOfATextAreCounted() {
        Constraint tag =
                compile("{'type':'tag','begin':'[','content':{'type':'any_text','max_tokens':2},'end':'</t>'}");
        assertThat(acceptsTokens(tag, "[", "a", "b", "</", "t>")).isTrue();
        assertThat(acceptsTokens(tag, "[", "long text", "more</t>")).isTrue();
        assertThat(acceptsTokens(tag, "[a", "b", "</t>")).isTrue();
        assertThat(acceptsTokens(tag, "[", "a", "b<", "/t>")).isTrue();
        assertThat(acceptsTokens(tag, "[", "a", "b", "c</t>")).isFalse();
        assertThat(acceptsTokens(tag, "[a", "b", "c</t>"))
                .as("a token that begins before")
                .isFalse();
        Constraint none = compile("{'type':'tag','begin':'[','content':{'type':'any_text','max_tokens':0},'end':']'}");
        assertThat(acceptsTokens(none, "[", "]")).isTrue();
        assertThat(acceptsTokens(none, "[", "a]")).isFalse();
        Constraint both = compile("{'type':'any_text','max_tokens':2,'max_chars':3}");
        assertThat(acceptsTokens(both, "abc")).isTrue();
        assertThat(acceptsTokens(both, "a", "b")).isTrue();
        assertThat(acceptsTokens(both, "ab", "cd")).isFalse();
        assertThat(acceptsTokens(both, "a", "b", "c")).isFalse();
        Constraint tokens = compile("{'type':'any_tokens','max_tokens':2,'exclude_tokens':[8]}");
        assertThat(acceptsTokens(tokens, "<|call|>", "<|call|>")).isTrue();
        assertThat(acceptsTokens(tokens, "<|done|>")).isFalse();
        assertThat(acceptsTokens(tokens, "a", "b", "<|call|>")).isFalse();
    }

    @Test
    void oneTokenThatIsNotExcludedMustCome() {
        Constraint one =
                compile("{'type':'sequence','elements':[{'type':'exclude_token','exclude_tokens':['<|call|>']},"
                        + "{'type':'const_string','value':'!'}]}");
        assertThat(acceptsTokens(one, "any", "!")).isTrue();
        assertThat(acceptsTokens(one, "<|done|>", "!")).isTrue();
        assertThat(acceptsTokens(one, "<|call|>", "!")).isFalse();
        assertThat(acceptsTokens(one, "!")).isFalse();
        assertThat(acceptsTokens(one, "any!")).as("one token is not two").isFalse();
        assertThat(acceptsTokens(one, "any", "other", "!")).isFalse();
    }

    @Test
    void aTriggerLeadsToItsTags() {
        String tags = "{'type':'triggered_tags','triggers':['<f='],'tags':" + TOOLS + ",'excludes':['stop']";
        String one = "<f=one>{'n':1}</f>";
        String two = "<f=two>{'n': true}</f>";
        check(
                tags + "}",
                "ø~a < b~" + one + "~a" + one + "b" + two + " <f",
                "<f=~<f=three>~stop~" + one + "stop~<f=one>{'n':true}</f>");
        check(tags + ",'at_least_one':true}", one + "~" + one + "b" + two, "ø~a~a" + one);
        check(tags + ",'stop_after_first':true}", "a~a" + one, one + "b~" + one + two);
        check(tags + ",'at_least_one':true,'stop_after_first':true}", one + "~" + two, "ø~a~" + one + two);
        String within = "{'type':'tag','begin':'[','content':" + tags + "},'end':']'}";
        check(within, "[]~[a" + one + "b]", "[a" + one + "~[]]");
    }

    @Test
    void tagsAreSeparated() {
        String tags = "{'type':'tags_with_separator','separator':',','tags':" + TOOLS;
        String one = "<f=one>{'n':1}</f>";
        check(tags + "}", "ø~" + one + "~" + one + "," + one, "a~" + one + ",~" + one + one);
        check(tags + ",'at_least_one':true,'stop_after_first':true}", one, "ø~" + one + "," + one);
    }

    @Test
    void aRuleIsFollowedBehindItsMark() {
        String rules =
                "{'type':'dispatch','rules':[['#',{'type':'regex','pattern':'[0-9]+;'}],['@',{'type':'const_string','value':'a'}]],"
                        + "'excludes':['!']";
        check(rules + "}", "x#12;y@ab#3;~x", "#~#a~@b~x!~#1;!");
        check(rules + ",'loop':false}", "x#12;~@a", "#12;x~@ab");
        String tokens =
                "{'type':'token_dispatch','rules':[['<|call|>',{'type':'const_string','value':'a'}]],'exclude_tokens':[8]}";
        check(tokens, "x<|call|>ay", "<|call|>b~<|done|>");
        String triggered =
                "{'type':'token_triggered_tags','trigger_tokens':[7],'tags':[{'type':'tag','begin':{'type':'token','token':7},"
                        + "'content':{'type':'const_string','value':'a'},'end':{'type':'token','token':'<|done|>'}}]}";
        check(triggered, "x<|call|>a<|done|>y", "<|call|>a~<|call|>b");
    }

    @Test
    void argumentsAreWrittenInTheStyleOfTheirFamily() {
        String schema =
                "{'type':'object','properties':{'city':{'type':'string'},'n':{'type':'integer'}},'required':['city']}";
        check(
                "{'type':'json_schema','style':'qwen_xml','json_schema':" + schema + "}",
                "<parameter=city>\nOslo\n</parameter>\n~<parameter=city>\nA\n</parameter>\n<parameter=n>\n1\n</parameter>\n",
                "<parameter=n>\n1\n</parameter>\n~{'city':'Oslo'}");
        check(
                "{'type':'qwen_xml_parameter','json_schema':" + schema + "}",
                "<parameter=city>\nOslo\n</parameter>\n",
                "<parameter=city>Oslo</parameter>");
        check(
                "{'type':'json_schema','style':'glm_xml','json_schema':" + schema + "}",
                "\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>",
                "Oslo");
    }

    /** As XGrammar's tests have it. */
    @Test
    void argumentsOfCohereAreElementsWithinElements() {
        String schema = "{'type':'object','properties':{'config':{'$ref':'#/$defs/Config'},"
                + "'items':{'type':'array','items':{'type':['string','null']},'minItems':1,'maxItems':2},"
                + "'value':{'enum':['fast',7]}},'required':['config','items'],'$defs':{'Config':{'type':'object',"
                + "'properties':{'mode':{'type':'string'},'enabled':{'type':'boolean'}},'required':['mode','enabled']}}}";
        String config = "<cofl:value name='config' type='dict'><cofl:value name='mode' type='raw'>fast <x></cofl:value>"
                + "<cofl:value name='enabled' type='json'>true</cofl:value></cofl:value>";
        String items = "<cofl:value name='items' type='list'>%s</cofl:value>";
        String one = "<cofl:value type='raw'>first</cofl:value>";
        String none = "<cofl:value type='json'>null</cofl:value>";
        String value = "<cofl:value name='value' type='%s'>%s</cofl:value>";
        check(
                "{'type':'json_schema','style':'cohere_xml','json_schema':" + schema + "}",
                config + items.formatted(one) + "~" + config + items.formatted(one + none)
                        + value.formatted("raw", "fast") + "~" + config + items.formatted(none)
                        + value.formatted("json", "7"),
                config + "~" + config + items.formatted("") + "~" + config + items.formatted(one + one + one) + "~"
                        + config.replace("dict", "json") + items.formatted(one) + "~" + config
                        + items.formatted(one.replace("<cofl:value", "<cofl:value name='0'")) + "~" + config
                        + items.formatted(one) + value.formatted("json", "fast"));
    }

    @Test
    void elementsOfMinimaxAreNamedByTheirKeys() {
        String schema =
                "{'type':'object','properties':{'name':{'type':'string'},'details':{'type':'object','properties':"
                        + "{'scores':{'type':'array','items':{'type':'number'},'minItems':1,'maxItems':2}},'required':['scores']},"
                        + "'kind':{'enum':['fast',7]}},'required':['name','details']}";
        String name = "<ns><name>%s<ns></name>";
        String details = "<ns><details><ns><scores>%s<ns></scores><ns></details>";
        String item = "<ns><item>1.5<ns></item>";
        String right = name.formatted("a <b> & c") + details.formatted(item);
        check(
                "{'type':'json_schema','style':'minimax_m3_xml','json_schema':" + schema + "}",
                (right + "~" + right + "<ns><kind>fast<ns></kind>~" + name.formatted("")
                                + details.formatted(item + item) + "<ns><kind>7<ns></kind>")
                        .replace("<ns>", "]<]minimax[>["),
                (name.formatted("a") + "~" + name.formatted("a<ns>") + details.formatted(item) + "~"
                                + name.formatted("a") + details.formatted("") + "~" + right
                                + "<ns><kind>slow<ns></kind>~"
                                + details.formatted(item) + name.formatted("a"))
                        .replace("<ns>", "]<]minimax[>["));
    }

    @Test
    void noStringAndNoKeyHasAnExcludedText() {
        String any = "{'type':'json_schema','excludes':['</t>','no'],'json_schema':%s}";
        check(
                any.formatted("{}"),
                "{'a':['n','</t',{'b':'t>'}]}~'on'~[1,null]",
                "'</t>'~'no'~{'no':1}~[{'a':['ano']}]~'\\u006eo'");
        check(any.formatted("{'enum':['yes','no',1]}"), "'yes'~1", "'no'");
        check(any.formatted("{'type':'string','minLength':2,'maxLength':3}"), "'ab'~'abc'", "'a'~'no'~'ano'~'abcd'");
        String parameters = "{'type':'object','properties':{'a':{'type':'string'},'b':{'type':'array','items':"
                + "{'type':'string'}},'c':{'enum':['no','yes']}},'required':['a']}";
        String a = "<parameter=a>\n%s\n</parameter>\n";
        check(
                "{'type':'json_schema','style':'qwen_xml','excludes':['no'],'json_schema':" + parameters + "}",
                a.formatted("n o") + "~" + a.formatted("on") + "<parameter=b>\n['on']\n</parameter>\n"
                        + "<parameter=c>\nyes\n</parameter>\n",
                a.formatted("a no") + "~" + a.formatted("on") + "<parameter=b>\n['no']\n</parameter>\n~"
                        + a.formatted("on") + "<parameter=c>\nno\n</parameter>\n");
    }

    @Test
    void deepseeksNewerParametersHaveABlank() {
        check(
                "{'type':'json_schema','style':'deepseek_v4_1_xml','json_schema':{'type':'object','properties':{'n':{'type':'integer'}},'required':['n']}}",
                "<｜DSML｜ parameter name='n' string='false'>1</｜DSML｜ parameter>\n",
                "<｜DSML｜parameter name='n' string='false'>1</｜DSML｜parameter>\n");
    }

    @Test
    void blanksAreLeftOutWhereTheyAreLimited() {
        check("{'type':'json_schema','max_whitespace_cnt':1,'json_schema':{}}", "{'a':[1,2]}", "{'a': 1}~[1, 2]");
    }

    @Test
    void keysComeInTheOrderOfTheSchemaUnlessAskedOtherwise() {
        String schema = "'json_schema':{'type':'object','properties':{'b':{},'a':{}},'required':['a','b']}";
        check("{'type':'json_schema'," + schema + "}", "{'b':1,'a':2}", "{'a':1,'b':2}~{'a':1}");
        check("{'type':'json_schema','any_order':true," + schema + "}", "{'b':1,'a':2}~{'a':1,'b':2}", "{'a':1}");
    }

    @Test
    void parametersComeInAnyOrderIfAskedTo() {
        String schema = "'json_schema':{'type':'object','properties':{'b':{'type':'integer'},'a':{'type':'integer'},"
                + "'c':{'type':'null'}},'required':['a','b']}";
        String a = "<parameter=a>\n1\n</parameter>\n";
        String b = a.replace('a', 'b').replace("pbrbmeter", "parameter");
        String c = "<parameter=c>\nnull\n</parameter>\n";
        check("{'type':'json_schema','style':'qwen_xml'," + schema + "}", b + a + "~" + b + a + c, a + b + "~" + b + c);
        check(
                "{'type':'json_schema','style':'qwen_xml','any_order':true," + schema + "}",
                b + a + "~" + a + b + "~" + c + b + a + "~" + a + c + b,
                a + "~" + b + c + "~" + a + b + a + "~" + c + c + a + b);
    }

    @Test
    void theOlderFormIsRead() {
        String tag =
                "{'type':'structural_tag','triggers':['<f='],'structures':[{'begin':'<f=a>','schema':{'type':'null'},'end':'</f>'}]}";
        Constraint constraint =
                new StructuralTags(SPECIAL, new int[0], GrammarLimits.DEFAULTS).compile(tag.replace('\'', '"'));
        assertThat(accepts(constraint, "x<f=a>null</f>y")).isTrue();
        assertThat(accepts(constraint, "<f=b>")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '§', quoteCharacter = '`', textBlock = """
            {'type':'xml'} § /format § type
            {'type':'sequence','elements':[{'type':'const_string'}]} § /format/elements/0 § value
            {'type':'any_text','max_tokens':-1} § /format § max_tokens
            {'type':'any_text','max_chars':'3'} § /format § max_chars
            {'type':'exclude_token','exclude_tokens':['no token']} § /format § exclude_tokens
            {'type':'any_text','colour':3} § /format § colour
            {'type':'json_schema','json_schema':{'items':{'pattern':'('}}} § /format § json_schema
            {'type':'json_schema','json_schema':{},'style':'html'} § /format § style
            {'type':'json_schema','json_schema':true,'style':'cohere_xml'} § /format § json_schema
            {'type':'json_schema','json_schema':{'properties':{'a':{}}},'style':'cohere_xml'} § /format § json_schema
            {'type':'json_schema','json_schema':{'properties':{'a':{'$ref':'#/$defs/a'}},'$defs':{'a':{'type':'object','properties':{'a':{'$ref':'#/$defs/a'}}}}},'style':'cohere_xml'} § /format § json_schema
            {'type':'json_schema','json_schema':{},'excludes':['\\\\n']} § /format § excludes
            {'type':'json_schema','json_schema':{'const':'axb'},'excludes':['x']} § /format § json_schema
            {'type':'json_schema','json_schema':{'type':'object','properties':{'axb':{}}},'style':'qwen_xml','excludes':['x']} § /format § excludes
            {'type':'json_schema','json_schema':{'type':'object','properties':{'a b':{'type':'string'}}},'style':'minimax_m3_xml'} § /format § json_schema
            {'type':'json_schema','json_schema':{'type':'object','properties':{'a':{},'b':{},'c':{},'d':{},'e':{},'f':{},'g':{}}},'style':'qwen_xml','any_order':true} § /format § json_schema
            {'type':'token','token':'<|what|>'} § /format § token
            {'type':'token','token':'<|eos|>'} § /format § token
            {'type':'const_string','value':'a<|eos|>'} § /format § value
            {'type':'repeat','min':2,'max':1,'content':{'type':'any_text'}} § /format § max
            {'type':'triggered_tags','triggers':['x'],'tags':[{'begin':'a','content':{'type':'any_text'},'end':'b'}]} § /format/tags/0 § begin
            """)
    void whatCannotBeKeptToIsRefusedByItsPlace(String format, String pointer, String field) {
        assertThatThrownBy(() -> compile(format)).isInstanceOfSatisfying(GrammarException.class, refused -> {
            assertThat(refused.pointer()).isEqualTo(pointer);
            assertThat(refused.keyword()).isEqualTo(field);
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'repeat','min':100000,'max':-1,'content':{'type':'const_string','value':'a'}}",
                "{'type':'repeat','min':99,'max':99,'content':{'type':'repeat','min':99,'max':99,'content':{'type':'const_string','value':'a'}}}"
            })
    void whatCostsTooMuchIsRefused(String format) {
        assertThatThrownBy(() -> compile(format))
                .isInstanceOfSatisfying(
                        GrammarException.class,
                        refused -> assertThat(Objects.requireNonNull(refused).reason())
                                .isEqualTo(GrammarException.Reason.BUDGET));
    }
}
