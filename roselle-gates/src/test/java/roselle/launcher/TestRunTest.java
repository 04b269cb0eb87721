package roselle.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What {@code ./roselle test} and {@code .ci/run} say of a build: everything that failed, and never that all is well when it is
 * not. Stand-ins take the place of Maven and of the launcher.
 */
@DisabledOnOs(OS.WINDOWS)
final class TestRunTest {
    private static final String PASSED = "  <testcase name=\"a\"/>\n";
    private static final String FAILED = "  <testcase name=\"b\">\n    <failure message=\"c\"/>\n  </testcase>\n";
    private static final String BROKEN = "  <testcase name=\"b\">\n    <error message=\"c\"/>\n  </testcase>\n";
    private static final String SKIPPED = "  <testcase name=\"b\">\n    <skipped/>\n  </testcase>\n";

    @TempDir
    private Path folder = Path.of("");

    /** How a program ended, and its last line. */
    private record Outcome(int status, String said) {
        String lastLine() {
            return said.lines().toList().getLast();
        }
    }

    @BeforeEach
    void checkOut() throws IOException {
        Path sources = Path.of("..").toAbsolutePath().normalize();
        for (String program : new String[] {"roselle", ".ci/run"}) {
            Files.createDirectories(folder.resolve(program).getParent());
            Files.copy(sources.resolve(program), folder.resolve(program), StandardCopyOption.COPY_ATTRIBUTES);
        }
        Files.writeString(folder.resolve("pom.xml"), "<project/>");
        program("tools/test-programs.sh", "");
    }

    private void program(String name, String script) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n" + script);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    /** A Maven that notes its arguments, leaves a report in each module, says a line, and ends with a status. */
    private void maven(String firstReport, String secondReport, String says, int status) throws IOException {
        program("bin/mvn", """
                if [ "$1" = -v ]; then
                    echo 'Apache Maven 3.9.9'
                    exit
                fi
                echo "$*" >>arguments
                mkdir -p roselle-one/target/surefire-reports roselle-two/target/surefire-reports
                printf '<testsuite name="one.ATest" time="1.5">\\n%%s</testsuite>\\n' '%s' >roselle-one/target/surefire-reports/TEST-a.xml
                printf '<testsuite name="two.BTest" time="22.25">\\n%%s</testsuite>\\n' '%s' >roselle-two/target/surefire-reports/TEST-b.xml
                echo '%s'
                exit %d
                """.formatted(firstReport, secondReport, says, status));
    }

    private Outcome run(String... command) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().put("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
        builder.environment().put("ROSELLE_JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), said);
    }

    @Test
    void testsEveryModuleAndCountsThemAll() throws Exception {
        maven(PASSED + PASSED, PASSED + SKIPPED, "[INFO] BUILD SUCCESS", 0);
        Outcome outcome = run("./roselle", "test", "-P", "long");
        assertThat(outcome.status()).as(outcome.said()).isZero();
        assertThat(outcome.lastLine()).isEqualTo("Tests run: 4, Failures: 0, Errors: 0, Skipped: 1");
        assertThat(outcome.said())
                .containsSubsequence("22.2  roselle-two", "1.5  roselle-one", "22.2  two.BTest", "1.5  one.ATest");
        assertThat(folder.resolve("arguments"))
                .content()
                .contains("-fae", "-Dmaven.test.failure.ignore=true", "verify -P long -T 2");
    }

    @ParameterizedTest
    @CsvSource({
        "a failure in the first module, 1, 0",
        "an error in the second module, 0, 1",
        "a line that tells of an error, 0, 0",
        "a crash or a compiler's error, 0, 0"
    })
    void whateverFailsFailsTheRun(String what, int failures, int errors) throws Exception {
        maven(
                failures > 0 ? PASSED + FAILED : PASSED + PASSED,
                errors > 0 ? BROKEN : PASSED,
                what.startsWith("a line") ? "[ERROR] There are test failures." : "[INFO] done",
                what.startsWith("a crash") ? 3 : 0);
        Outcome outcome = run("./roselle", "test");
        assertThat(outcome.status()).as(outcome.said()).isEqualTo(what.startsWith("a crash") ? 3 : 1);
        assertThat(outcome.lastLine())
                .isEqualTo("Tests run: 3, Failures: " + failures + ", Errors: " + errors + ", Skipped: 0");
        assertThat(folder.resolve("roselle-cli/target/quick/build.finished")).doesNotExist();
    }

    @Test
    void checksOneTestOfOneModuleApartFromTheCheckedBuild() throws Exception {
        maven(PASSED, PASSED, "", 0);
        Files.createDirectories(folder.resolve("roselle-one/src/test"));
        Outcome outcome = run("./roselle", "check", "one", "ATest");
        assertThat(outcome.status()).as(outcome.said()).isZero();
        assertThat(folder.resolve("arguments"))
                .content()
                .contains("-Dquick -Dbuild.folder=target/quick -Dtest=ATest", "-pl roselle-one -am test");
    }

    @Test
    void checksAllTestsOfAModule() throws Exception {
        maven(PASSED, PASSED, "", 0);
        Files.createDirectories(folder.resolve("roselle-one/src/test/java/one"));
        Files.writeString(folder.resolve("roselle-one/src/test/java/one/BTest.java"), "");
        Outcome outcome = run("./roselle", "check", "roselle-one");
        assertThat(outcome.status()).as(outcome.said()).isZero();
        assertThat(folder.resolve("arguments")).content().contains("-Dtest=BTest ");
    }

    @Test
    void saysWhichModulesThereAreToCheck() throws Exception {
        maven(PASSED, PASSED, "", 0);
        Files.createDirectories(folder.resolve("roselle-one/src"));
        Outcome outcome = run("./roselle", "check", "three");
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.lastLine()).isEqualTo("roselle: there is no module roselle-three; there are: roselle-one ");
    }

    @ParameterizedTest
    @CsvSource({"test, --help, Usage: ./roselle test", "check, -h, Usage: ./roselle check"})
    void tellsItsOwnUsageAndNotMavens(String command, String option, String usage) throws Exception {
        maven(PASSED, PASSED, "", 0);
        Outcome outcome = run("./roselle", command, option);
        assertThat(outcome.status()).isZero();
        assertThat(outcome.said()).startsWith(usage);
        assertThat(folder.resolve("arguments")).doesNotExist();
    }

    @Test
    void aBuildThatTakesLongSaysSo() throws Exception {
        program("bin/sleep", "exec /bin/sleep 0.1\n"); // the launcher's quarters of a minute
        program("bin/mvn", """
                [ "$1" = -v ] && echo 'Apache Maven 3.9.9 (x)' && exit
                tries=0
                until grep -q 'still building after 30 s, 0 modules' said || [ $tries = 300 ]; do
                    tries=$((tries + 1))
                    sleep 1
                done
                exit 1
                """);
        Outcome outcome = run("sh", "-c", "exec ./roselle version 2>said </dev/null");
        assertThat(outcome.status()).isEqualTo(70);
        assertThat(folder.resolve("said"))
                .content()
                .contains("after 15 s", "after 30 s")
                .endsWith("the lines above say why.\n");
    }

    @Test
    void aFailedCheckFails() throws Exception {
        maven(PASSED, PASSED, "", 1);
        Files.createDirectories(folder.resolve("roselle-one/src"));
        assertThat(run("./roselle", "check", "one", "ATest").status()).isEqualTo(1);
    }

    /** A launcher that tells of other tests for the long ones. */
    private void launcher(String first, int firstStatus, String second, int secondStatus) throws IOException {
        program("roselle", """
                if [ "$#" = 1 ]; then
                    echo '%s'
                    exit %d
                fi
                echo '%s'
                exit %d
                """.formatted(first, firstStatus, second, secondStatus));
    }

    private static String summary(int tests, int failures) {
        return "Tests run: " + tests + ", Failures: " + failures + ", Errors: 0, Skipped: 1";
    }

    @Test
    void theLongTestsRunAfterAFailureToo() throws Exception {
        launcher(summary(10, 2), 1, summary(5, 1), 1);
        Outcome both = run(".ci/run");
        assertThat(both.status()).isEqualTo(1);
        assertThat(both.lastLine()).isEqualTo("10 passed, 3 failed, 2 skipped");

        launcher(summary(10, 2), 1, summary(5, 0), 0);
        assertThat(run(".ci/run").status()).isEqualTo(1);

        launcher(summary(10, 0), 0, summary(5, 0), 70);
        assertThat(run(".ci/run").status()).isEqualTo(1);

        launcher(summary(10, 0), 0, summary(5, 0), 0);
        Outcome well = run(".ci/run");
        assertThat(well.status()).isZero();
        assertThat(well.lastLine()).isEqualTo("13 passed, 0 failed, 2 skipped");
    }

    @Test
    void aBuildThatRunsNoTestIsNotTakenForOneThatPasses() throws Exception {
        launcher("nothing", 0, summary(5, 0), 0);
        Outcome outcome = run(".ci/run");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.said()).contains("the long tests did not run", "no test ran");
    }
}
