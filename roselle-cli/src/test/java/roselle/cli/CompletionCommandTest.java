package roselle.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The scripts in the shells that read them: what each then completes. */
@DisabledOnOs(OS.WINDOWS)
final class CompletionCommandTest {
    @TempDir
    private Path folder;

    private static boolean isHere(String program) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
    }

    private Path script(String shell) throws IOException {
        var out = new StringWriter();
        String[] arguments = {"completion", shell};
        int status = Main.commandLine(arguments).setOut(new PrintWriter(out)).execute(arguments);
        assertThat(status).isZero();
        return Files.writeString(folder.resolve("script." + shell), out.toString());
    }

    private static String said(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }

    private static List<String> words(String said) {
        return List.of(said.strip().split("\\s+"));
    }

    private static String inBash(Path script, String typed, int word) throws IOException, InterruptedException {
        String program = "compopt() { :; }; source '" + script + "'; COMP_WORDS=(" + typed + "); COMP_CWORD=" + word
                + "; _complete_roselle; echo \"${COMPREPLY[@]}\"";
        return said("bash", "--norc", "-c", program);
    }

    @Test
    void bashCompletesCommandsAndOptions() throws Exception {
        assumeTrue(isHere("bash"), "there is no bash");
        Path script = script("bash");
        assertThat(words(inBash(script, "roselle ser", 1))).containsExactly("serve");
        assertThat(words(inBash(script, "roselle serve --max-b", 2))).containsExactly("--max-body");
        assertThat(words(inBash(script, "roselle bench of", 2))).containsExactly("offline");
    }

    @Test
    void zshReadsItsScriptAndKnowsTheCommand() throws Exception {
        assumeTrue(isHere("zsh"), "there is no zsh");
        String program = "autoload -U +X compinit && compinit -u -d '" + folder.resolve("dump") + "'; source '"
                + script("zsh") + "'; print -- $_comps[roselle]; COMP_WORDS=(roselle ser); COMP_CWORD=1;"
                + " setopt ksharrays; _complete_roselle; print -- ${COMPREPLY[@]}";
        assertThat(said("zsh", "-f", "-c", program)).contains("_complete_roselle", " serve ");
    }

    @Test
    void fishCompletesCommandsAndOptions() throws Exception {
        assumeTrue(isHere("fish"), "there is no fish");
        String read = "set -x HOME " + folder + "; source " + script("fish") + "; complete -C ";
        assertThat(said("fish", "--no-config", "-c", read + "'roselle ser'"))
                .isEqualTo("serve\tServe models over HTTP.\n");
        assertThat(said("fish", "--no-config", "-c", read + "'roselle serve --max-b'"))
                .startsWith("--max-body\tBytes of");
        assertThat(said("fish", "--no-config", "-c", read + "'roselle bench of'"))
                .startsWith("offline\t");
    }
}
