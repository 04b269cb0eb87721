package roselle.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.report.ExitCode;

/** {@code roselle completion}: a script for a shell, by which it completes commands and options. */
@Command(
        name = "completion",
        footer = {
            "",
            "For this shell:  source <(roselle completion bash)     of zsh likewise",
            "                 roselle completion fish | source",
            "For all of them, write it into a file that the shell reads when it starts."
        })
final class CompletionCommand implements Callable<Integer> {
    private enum Shell {
        BASH,
        ZSH,
        FISH
    }

    private static final String PROGRAM = "roselle";

    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(paramLabel = "bash|zsh|fish", description = "The shell that is to read it.")
    private Shell shell = Shell.BASH;

    @Override
    public Integer call() {
        String[] all = Subcommand.ALL.stream().map(Subcommand::name).toArray(String[]::new);
        CommandLine commands = Main.commandLine(all); // with the options of each
        PrintWriter out = specification.commandLine().getOut();
        out.print(
                switch (shell) {
                    case BASH, ZSH -> AutoComplete.bash(PROGRAM, commands); // which zsh reads by its bashcompinit
                    case FISH -> FishCompletion.of(PROGRAM, commands);
                });
        out.flush();
        return ExitCode.OK.status();
    }
}
