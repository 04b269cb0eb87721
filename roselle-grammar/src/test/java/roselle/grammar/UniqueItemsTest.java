package roselle.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.grammar.automaton.State;
import roselle.grammar.schema.SchemaOptions;

/** What of an item that must differ from others matters for the tokens that may come. */
final class UniqueItemsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '§', quoteCharacter = '`', textBlock = """
            {'type':'string'}                                       § true
            {'type':'string','pattern':'^[a-z]{2,9}$'}              § true
            {'type':'string','pattern':'^a$'}                       § false
            {'enum':['ab','b','c']}                                 § false
            {'type':['string','integer']}                           § true
            """)
    void textsThatAreManyHangOnContentsAlone(String items, boolean isRoomy) {
        State state = behind("{'type':'array','uniqueItems':true,'items':" + items + "}", "['a");
        assertThat(state.hangsOnItems()).isTrue();
        assertThat(state.hangsOnContents()).isEqualTo(isRoomy);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '§', quoteCharacter = '`', textBlock = """
            {'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false}    § true
            {'type':'object','properties':{'a':{'enum':['b','c']}},'additionalProperties':false}   § false
            {'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':false,'maxProperties':1} § false
            """)
    void objectsWithTextsThatAreManyDoToo(String items, boolean isRoomy) {
        State state = behind("{'type':'array','uniqueItems':true,'items':" + items + "}", "[{'a': 'b");
        assertThat(state.hangsOnContents()).isEqualTo(isRoomy);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '§', quoteCharacter = '`', textBlock = """
            {'type':'string'}                                         § ['a       § true
            {'type':'string','minLength':3}                           § ['bbb', 'a  § true
            {'type':'string','pattern':'^(a|b.*)$'}                   § ['b       § false
            {'type':'string','maxLength':9}                           § ['a       § false
            {'type':'string'}                                         § ['a\\    § false
            {'type':['string','integer']}                             § [1        § false
            {'type':'array','items':{'type':'string'}}                § [['a      § false
            {'type':'object','additionalProperties':{'type':'string'}} § [{'a': 'b § false
            """)
    void textsThatNeverEndHangOnWholeItemsAlone(String items, String text, boolean isEndless) {
        State state = behind("{'type':'array','uniqueItems':true,'items':" + items + "}", text);
        assertThat(state.hangsOnItems()).isTrue();
        assertThat(state.hangsOnWholeItems()).isEqualTo(isEndless);
    }

    @Test
    void itemsWithinOthersThatMustDifferHangOnMore() {
        String items = "{'type':'array','uniqueItems':true,'items':{'type':'string'}}";
        State state = behind("{'type':'array','uniqueItems':true,'items':" + items + "}", "[['a");
        assertThat(state.hangsOnWholeItems()).isFalse();
    }

    private static State behind(String schema, String text) {
        State state = Constraints.jsonSchema(
                        schema.replace('\'', '"'), SchemaOptions.GENERATING, GrammarLimits.DEFAULTS)
                .start();
        for (byte octet : text.replace('\'', '"').getBytes(StandardCharsets.UTF_8)) {
            state = Objects.requireNonNull(state.advance(octet & 0xFF));
        }
        return state;
    }
}
