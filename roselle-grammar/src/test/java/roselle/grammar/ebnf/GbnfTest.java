package roselle.grammar.ebnf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static roselle.grammar.ebnf.GoldenGrammars.accepts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.automaton.State;

/** GBNF grammars; {@code tools/structured/gbnf} writes what llama.cpp says of the golden ones. */
class GbnfTest {
    @Test
    void acceptsWhatLlamaCppAccepts() throws IOException {
        GoldenGrammars.check(
                "gbnf-golden.json",
                GbnfTest::read,
                grammar -> assertThatThrownBy(() -> read(grammar)).as(grammar).isInstanceOf(GrammarException.class));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "root ::= root \"+\" [0-9] | [0-9]; 1 | 1+2 | 1+2+3 ; + | 1+ | 12",
                "root ::= a | b\\na ::= b \"x\" | \"y\"\\nb ::= a \"z\"; y | yz | yzx | yzxz ; yx | zx",
                "root ::= e\\ne ::= e e | \"a\" | \"\"; a | aaa ; b",
                "root ::= (root | \"a\") \"b\"; ab | abb ; a | b",
                "root ::= a \"c\"\\na ::= a\\na ::= \"x\" | a; xc ; c",
            })
    void readsLeftRecursion(String grammar, String accepted, String refused) {
        Constraint constraint = read(grammar.replace("\\n", "\n"));
        for (String text : accepted.split(" \\| ")) {
            assertThat(accepts(constraint, text)).as("accepts %s", text).isTrue();
        }
        for (String text : refused.split(" \\| ")) {
            assertThat(accepts(constraint, text)).as("refuses %s", text).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "root ::= root \",\" item | item\nitem ::= \"[\" root \"]\" | [a-z]+",
                "root ::= item \",\" root | item\nitem ::= \"[\" root \"]\" | [a-z]+",
                "root ::= item (\",\" item)*\nitem ::= \"[\" root \"]\" | [a-z]+",
            })
    void statesRecur(String grammar) {
        State first = after(read(grammar), "[a],b,[c,d],e,");
        assertThat(after(read(grammar), "[a],b,[c,d],e,")).isNotSameAs(first);
        Constraint one = read(grammar);
        assertThat(after(one, "x,y,[z],")).isSameAs(after(one, "x,[a,[b]],y,"));
    }

    @Test
    void ambiguityAndLengthCostNoMoreThanTheText() {
        Constraint constraint = read("root ::= s\ns ::= s s | \"a\" s | s \"a\" | \"a\"");
        assertThat(accepts(constraint, "a".repeat(60))).isTrue();
        Constraint long1 = read("root ::= \"a\" root | \"a\"");
        assertThat(accepts(long1, "a".repeat(20_000))).isTrue();
        Constraint nested = read("root ::= \"(\" root \")\" | \"\"");
        assertThat(accepts(nested, "(".repeat(3_000) + ")".repeat(3_000))).isTrue();
    }

    @Test
    void saysWhatIsWrong() {
        assertThatThrownBy(() -> read("root ::= \"a\"\nx ::= y")).hasMessageContaining("no rule 'y'");
        assertThatThrownBy(() -> read("root ::= \"a\"\nx := [a]")).hasMessageContaining("line 2");
        assertThatThrownBy(() -> read("root ::= <[12]>"))
                .isInstanceOfSatisfying(
                        GrammarException.class,
                        refusal -> assertThat(refusal.reason()).isEqualTo(Reason.UNSUPPORTED));
        assertThatThrownBy(() -> read("root ::= \"a\" root"))
                .isInstanceOfSatisfying(
                        GrammarException.class,
                        refusal -> assertThat(refusal.reason()).isEqualTo(Reason.EMPTY));
        assertThatThrownBy(() -> read("root ::= \"(\" root{1000000000} \")\" | \"a\""))
                .isInstanceOfSatisfying(
                        GrammarException.class,
                        refusal -> assertThat(refusal.reason()).isEqualTo(Reason.BUDGET));
        assertThatThrownBy(() -> read("root ::= " + "(".repeat(100_000))).isInstanceOf(GrammarException.class);
    }

    private static Constraint read(String grammar) {
        return Constraints.gbnf(grammar, GrammarLimits.DEFAULTS);
    }

    private static State after(Constraint constraint, String text) {
        State at = constraint.start();
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            at = Objects.requireNonNull(at.advance(octet & 0xFF), text);
        }
        return at;
    }
}
