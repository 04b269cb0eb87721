package roselle.grammar.ebnf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.State;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Grammars with what another reader of them says: whether they are valid, and which texts they accept. */
final class GoldenGrammars {
    private GoldenGrammars() {}

    /** Holds what {@code read} makes of the valid grammars of a file to it, and has {@code refused} look at the others. */
    static void check(String file, Function<String, Constraint> read, Consumer<String> refused) throws IOException {
        int accepted = 0;
        for (JsonNode entry : entries(file)) {
            String grammar = entry.get("grammar").stringValue();
            if (!entry.get("isValid").booleanValue()) {
                refused.accept(grammar);
                continue;
            }
            Constraint constraint = read.apply(grammar);
            for (JsonNode text : entry.get("accepted")) {
                assertThat(accepts(constraint, text.stringValue()))
                        .as("%s accepts '%s'", grammar, text)
                        .isTrue();
                accepted++;
            }
            for (JsonNode text : entry.get("refused")) {
                assertThat(accepts(constraint, text.stringValue()))
                        .as("%s refuses '%s'", grammar, text)
                        .isFalse();
            }
        }
        assertThat(accepted).isGreaterThan(200);
    }

    private static JsonNode entries(String file) throws IOException {
        try (InputStream json = GoldenGrammars.class.getResourceAsStream("/roselle/grammar/" + file)) {
            return JsonMapper.shared().readTree(Objects.requireNonNull(json));
        }
    }

    static boolean accepts(Constraint constraint, String text) {
        State at = constraint.start();
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            at = at.advance(octet & 0xFF);
            if (at == null) {
                return false;
            }
        }
        return at.isAccepting();
    }
}
