package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.cli.Main;

/** {@code roselle template}: files in, a prompt or one sentence out. */
class TemplateCommandTest {
    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    @TempDir
    private Path folder = Path.of("");

    @Test
    void printsThePromptAndNothingElse() throws IOException {
        assertThat(run(
                        "{{ a }} {{ strftime_now('%d %b %Y') }}\n\n",
                        "{\"a\": \"é 😀\"}", "--now", "2026-07-04T12:00:00"))
                .isZero();
        assertThat(output).hasToString("é 😀 04 Jul 2026\n");
        assertThat(errors.toString()).isEmpty();
    }

    @Test
    void keepsNumbersAsPythonReadsThem() throws IOException {
        String numbers = "[1, 1.0, 1e2, 123456789012345678901234567890, 0.1, -0.0, 1e-7, 9223372036854775808]";
        assertThat(run("{{ x }}|{{ x|tojson }}", "{\"x\": " + numbers + "}")).isZero();
        assertThat(output)
                .hasToString("[1, 1.0, 100.0, 123456789012345678901234567890, 0.1, -0.0, 1e-07, 9223372036854775808]|"
                        + "[1, 1.0, 100.0, 123456789012345678901234567890, 0.1, -0.0, 1e-07, 9223372036854775808]");
    }

    @Test
    void namesTheFileTheLineAndTheColumnOfAFault() throws IOException {
        assertThat(run("a\n {{ raise_exception('no such role') }}", "{}")).isEqualTo(65);
        assertThat(output.toString()).isEmpty();
        assertThat(errors.toString()).contains("template.jinja', line 2, column ", "no such role");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "1",
                "{\"a\": 1",
                "{} {}",
                "{\"a\": 1, \"a\": 2}",
                "{\"a\": NaN}",
                "{\"a\": [1e400]}",
                "{'a': 1}",
                "{\"a\": 01}",
            })
    void refusesVariablesThatAreNotOneJsonObject(String variables) throws IOException {
        assertThat(run("{{ a }}", variables)).isEqualTo(65);
        assertThat(errors.toString())
                .startsWith("roselle: ")
                .contains("variables.json")
                .hasLineCount(1);
    }

    @Test
    void refusesVariablesOfAnySizeInOneSentence() throws IOException {
        assertThat(run("{{ a }}", "[".repeat(100_000))).isEqualTo(65);
        assertThat(run("{{ a }}", "{\"a\": " + "9".repeat(1_000_000) + "}")).isEqualTo(65);
        assertThat(run("{{ a }}", "{\"a\": \"\\ud800\"}")).isEqualTo(65);
    }

    @Test
    void tellsWhatIsMissing() throws IOException {
        Path variables = Files.writeString(folder.resolve("variables.json"), "{}");
        String absent = folder.resolve("absent").toString();
        assertThat(execute("template", "--template", absent, "--variables", variables.toString()))
                .isEqualTo(66);
        assertThat(execute("template", "--model", absent, "--variables", variables.toString()))
                .isEqualTo(66);
        assertThat(execute("template", "--variables", variables.toString())).isEqualTo(2);
        assertThat(execute("template", "--template", absent)).isEqualTo(2);
    }

    private int run(String template, String variables, String... more) throws IOException {
        Path source = Files.writeString(folder.resolve("template.jinja"), template);
        Path values = Files.writeString(folder.resolve("variables.json"), variables);
        String[] arguments = new String[more.length + 5];
        arguments[0] = "template";
        arguments[1] = "--template";
        arguments[2] = source.toString();
        arguments[3] = "--variables";
        arguments[4] = values.toString();
        System.arraycopy(more, 0, arguments, 5, more.length);
        return execute(arguments);
    }

    private int execute(String... arguments) {
        return Main.commandLine(arguments)
                .setOut(new PrintWriter(output))
                .setErr(new PrintWriter(errors))
                .execute(arguments);
    }
}
