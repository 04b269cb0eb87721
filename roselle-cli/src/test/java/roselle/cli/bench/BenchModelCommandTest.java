package roselle.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import roselle.cli.Main;
import tools.jackson.databind.json.JsonMapper;

/** {@code roselle bench model} on a model that is measured in a moment. */
class BenchModelCommandTest {
    private static final String MODEL = "../roselle-engine/src/test/resources/tiny-models/llama";

    private final StringWriter out = new StringWriter();

    private int run(String... arguments) {
        return Main.commandLine(arguments).setOut(new PrintWriter(out)).execute(arguments);
    }

    @Test
    void printsALineForEachTestAndWhereAStepsTimeWent() {
        assertThat(run("bench", "model", MODEL, "-p", "8", "-n", "4", "-b", "1,2", "--repetitions", "1", "--profile"))
                .isZero();
        assertThat(out.toString())
                .startsWith("products: ")
                .contains("pp8", "tg4", "loaded in ", "memory, ")
                .containsPattern("a step takes [0-9.]+ ms, products [0-9.]+ %, normed products [0-9.]+ %, "
                        + "gated products [0-9.]+ %, attention [0-9.]+ %, .*between them");
    }

    @Test
    void printsJsonForScripts() {
        assertThat(run("bench", "model", MODEL, "-p", "8", "-n", "0", "--repetitions", "1", "--output", "json"))
                .isZero();
        var rows = JsonMapper.shared().readTree(out.toString());
        assertThat(rows.size()).isEqualTo(1);
        assertThat(rows.get(0).get("test").stringValue()).isEqualTo("pp8");
        assertThat(rows.get(0).get("tokens_per_second").doubleValue()).isPositive();
    }
}
