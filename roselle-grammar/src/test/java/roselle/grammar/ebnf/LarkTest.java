package roselle.grammar.ebnf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static roselle.grammar.ebnf.GoldenGrammars.accepts;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;

/** Grammars in Lark; {@code tools/structured/lark} writes what Lark itself says of the golden ones. */
class LarkTest {
    @Test
    void acceptsWhatLarkAccepts() throws IOException {
        GoldenGrammars.check(
                "lark-golden.json",
                LarkTest::read,
                grammar -> assertThatThrownBy(() -> read(grammar))
                        .as(grammar)
                        .isInstanceOfSatisfying(
                                GrammarException.class,
                                refusal -> assertThat(refusal.reason()).isEqualTo(Reason.INVALID)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "start: A.2\\nA: \"a\" ~ line 1, column 9 ~ INVALID",
                "start: A\\nA.2: \"a\" ~ line 2, column 2 ~ UNSUPPORTED",
                "start.1: \"a\" ~ line 1, column 6 ~ UNSUPPORTED",
                "start: x{\"a\"} ~ line 1, column 9 ~ UNSUPPORTED",
                "start: <|im_end|> ~ line 1, column 8 ~ UNSUPPORTED",
                "start: \"a\"\\n%import python.NAME ~ line 2, column 9 ~ UNSUPPORTED",
                "start: \"a\"\\n%import .other.NAME ~ line 2, column 9 ~ UNSUPPORTED",
                "start: \"a\"\\n%declare B ~ line 2, column 1 ~ UNSUPPORTED",
                "start: \"a\"\\n%extend B: \"b\" ~ line 2, column 1 ~ UNSUPPORTED",
                "start: %json {} ~ line 1, column 8 ~ UNSUPPORTED",
                "start: /a/x ~ line 1, column 8 ~ UNSUPPORTED",
                "start: /a(?<=b)/ ~ line 1, column 8 ~ UNSUPPORTED",
                "start: \"a\" | b ~ line 1, column 14 ~ INVALID",
                "start: \"\\q\" ~ line 1, column 9 ~ INVALID",
                "start: \"b\"..\"a\" ~ line 1, column 8 ~ INVALID",
                "start: \"a\" ) ~ line 1, column 12 ~ INVALID",
                "start: A\\nA: \"a\" B\\nB: A ~ line 1, column 8 ~ INVALID",
            })
    void saysWhereItIsWrong(String grammar, String place, Reason reason) {
        assertThatThrownBy(() -> read(grammar.replace("\\n", "\n")))
                .hasMessageContaining(place + " of the grammar")
                .isInstanceOfSatisfying(
                        GrammarException.class,
                        refusal -> assertThat(refusal.reason()).isEqualTo(reason));
    }

    @Test
    void isToldFromGbnf() {
        assertThat(LarkReader.isLark("start: \"a\" // ::=\n")).isTrue();
        assertThat(LarkReader.isLark("# start: x\nroot ::= \"a\"")).isFalse();
        assertThat(accepts(Constraints.grammar("start: \"a\"", GrammarLimits.DEFAULTS), "a"))
                .isTrue();
        assertThat(accepts(Constraints.grammar("root ::= \"a\"", GrammarLimits.DEFAULTS), "a"))
                .isTrue();
    }

    @Test
    void nestingAndSizeAreBounded() {
        for (String grammar : new String[] {
            "start: " + "(".repeat(100_000),
            "start: \"(\" start~999999999 \")\" | \"a\"",
            "start: A0\n" + chain(100_000)
        }) {
            assertThatThrownBy(() -> read(grammar)).isInstanceOf(GrammarException.class);
        }
    }

    private static String chain(int length) {
        StringBuilder terminals = new StringBuilder();
        for (int i = 0; i < length; i++) {
            terminals.append("A").append(i).append(": A").append(i + 1).append('\n');
        }
        return terminals.append("A").append(length).append(": \"a\"\n").toString();
    }

    private static Constraint read(String grammar) {
        return Constraints.lark(grammar, GrammarLimits.DEFAULTS);
    }
}
