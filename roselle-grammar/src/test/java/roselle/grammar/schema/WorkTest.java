package roselle.grammar.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;

/** In which order the parts of schemas are worked on, and at what cost. */
class WorkTest {
    private static final long UNITS = 1_000_000;

    /** What formulas are numbered by, and with it what they cost, is this order; that of a table of identities differs each time. */
    @Test
    void partsAreCompiledInTheOrderOfTheSchema() {
        StringBuilder properties = new StringBuilder();
        for (int i = 0; i < 16; i++) {
            properties.append(i == 0 ? "" : ",").append("\"p" + i + "\":{\"$ref\":\"#/none" + i + "\"}");
        }
        for (int time = 0; time < 8; time++) {
            assertThatThrownBy(() -> compile("{\"properties\":{" + properties + "}}", UNITS))
                    .hasMessageContaining("'/properties/p0'");
        }
    }

    @Test
    void whatIsMissingIsLookedForOnceAndNotInEachOrder() {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < 24; i++) {
            names.append(i == 0 ? "" : ",").append("\"p" + i + "\":{\"type\":\"string\"}");
        }
        String schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" + names
                + "},\"oneOf\":[{\"required\":[\"p9\"]},{\"anyOf\":[{\"required\":[\"p9\"]},{\"required\":[\"p9\",\"p5\"]}]}]}";
        assertThatThrownBy(() -> compile(schema, 20_000))
                .isInstanceOfSatisfying(
                        GrammarException.class,
                        refusal -> assertThat(refusal.reason()).isEqualTo(GrammarException.Reason.EMPTY));
    }

    private static Constraint compile(String schema, long units) {
        return SchemaCompiler.compile(schema, SchemaOptions.GENERATING, List.of(), new Budget(units, UNITS));
    }
}
