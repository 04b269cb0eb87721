package roselle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a user of the executable sees when no model is involved. */
final class MainTest {
    private record Outcome(int status, String out, String err) {}

    @Test
    void printsItsVersion() {
        Outcome outcome = roselle("version");
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out())
                .startsWith("roselle ")
                .contains(Runtime.version().toString());
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void saysTheSameUnderTheOptionVersion() {
        assertThat(roselle("--version").out()).isEqualTo(roselle("version").out());
    }

    @Test
    void suggestsTheCommandThatWasMeant() {
        Outcome outcome = roselle("versoin");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).contains("versoin").contains("version").doesNotContain("Exception");
    }

    @Test
    void refusesAnUnknownOption() {
        Outcome outcome = roselle("version", "--colour");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("--colour").contains("roselle version --help");
    }

    @Test
    void speaksOfWhatWasMeantAndNotOfJava() {
        assertThat(roselle("serve", "demo", "--prot", "8000").err())
                .contains("roselle serve has no option --prot; did you mean --port?");
        assertThat(roselle("nothing-like-it").err())
                .contains("there is no command nothing-like-it")
                .doesNotContain("did you mean");
        assertThat(roselle("serve", "demo", "--port", "abc").err()).contains("'abc' is not a whole number");
        assertThat(roselle("run", "demo", "--temperature=hot").err()).contains("'hot' is not a number");
        assertThat(roselle("version", "please").err()).contains("'please' is one word too many for roselle version");
    }

    @Test
    void asksForACommandWhenThereIsNone() {
        Outcome outcome = roselle();
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("a command is missing").contains("roselle --help");
    }

    @Test
    void listsEachCommandWithItsSummary() {
        Outcome outcome = roselle("--help");
        assertThat(outcome.status()).isZero();
        assertThat(Subcommand.ALL)
                .isNotEmpty()
                .allSatisfy(subcommand ->
                        assertThat(outcome.out()).containsPattern("(?m)^ +" + subcommand.name() + " +\\S"));
    }

    @Test
    void groupsCommandsAndOptionsUnderHeadings() {
        String commands = roselle("--help").out();
        assertThat(commands)
                .containsSubsequence("Ask:", "  run ", "Serve:", "  serve ", "Models:", "  pull ")
                .doesNotContain("Others:");
        assertThat(Subcommand.groups().values().stream().flatMap(List::stream))
                .as("each command in one group")
                .doesNotHaveDuplicates()
                .containsAll(Subcommand.ALL.stream().map(Subcommand::name).toList());
        assertThat(commands).contains("  help        Display help information");
        assertThat(roselle("serve", "--help").out())
                .startsWith("Usage: roselle serve [OPTIONS] [MODEL...]")
                .containsSubsequence("--model-name", "Server:", "--port", "Who may ask:", "--api-keys")
                .containsSubsequence("Many models:", "--models", "Batches:", "--batch-folder")
                .containsSubsequence("Engine:", "--context", "Every command:", "--help");
        assertThat(roselle("version", "--help").out()).contains("--help").doesNotContain("Every command:");
    }

    @Test
    void namesDevicesAndNumbersAsTheyAre() {
        assertThat(roselle("serve", "--help").out())
                .contains("cuda:N", "64 for")
                .containsPattern("--context=N +Tokens")
                .doesNotContain("--max-context");
    }

    @Test
    void explainsEachCommand() {
        assertThat(Subcommand.ALL).isNotEmpty().allSatisfy(subcommand -> {
            Outcome outcome = roselle(subcommand.name(), "--help");
            assertThat(outcome.status()).isZero();
            assertThat(outcome.out()).contains("roselle " + subcommand.name());
        });
    }

    private static Outcome roselle(String... arguments) {
        var out = new StringWriter();
        var err = new StringWriter();
        int status = Main.commandLine(arguments)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
        return new Outcome(status, out.toString(), err.toString());
    }
}
