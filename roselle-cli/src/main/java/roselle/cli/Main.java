package roselle.cli;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import roselle.cli.option.Settings;
import roselle.cli.report.ExitCode;
import roselle.cli.report.GroupedHelp;
import roselle.cli.report.StartMark;
import roselle.cli.report.UsageMessage;
import roselle.cli.report.VersionCommand;

/** The entry point of the one executable. */
@Command(
        name = "roselle",
        description = "An LLM inference and serving engine for the JVM.",
        mixinStandardHelpOptions = true,
        versionProvider = VersionCommand.class)
public final class Main implements Runnable {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "On failure, print the stack trace too.")
    private boolean debug;

    public static void main(String[] arguments) {
        StandardError.adopt();
        if (VersionCommand.isAllOf(arguments)) {
            System.out.println(VersionCommand.line());
            StartMark.set();
            System.exit(StandardOutput.status());
        }
        var commandLine = commandLine(arguments);
        int status = commandLine.execute(arguments);
        System.out.flush();
        if (status == ExitCode.OK.status() && isTypical(commandLine.getParseResult())) {
            StartMark.set();
        }
        System.exit(status == ExitCode.OK.status() ? StandardOutput.status() : status);
    }

    /** Whether a run that ended well did what the next one will do: help is typical of no command, and a server says itself. */
    private static boolean isTypical(ParseResult parsed) {
        if (!parsed.hasSubcommand()) {
            return true;
        }
        ParseResult command = parsed.subcommand();
        return !command.isUsageHelpRequested() && !command.commandSpec().name().equals("serve");
    }

    /** The command line that understands {@code arguments}; commands they do not name are only listed, not loaded. */
    public static CommandLine commandLine(String... arguments) {
        var main = new Main();
        var commandLine = new CommandLine(main);
        Set<String> words = new HashSet<>(Arrays.asList(arguments));
        for (var subcommand : Subcommand.ALL) {
            commandLine.addSubcommand(
                    subcommand.name(), words.contains(subcommand.name()) ? subcommand.open() : subcommand.listed());
        }
        commandLine.getSubcommands().values().forEach(each -> Settings.install(each, System.getenv(), arguments));
        commandLine.addSubcommand(new HelpCommand());
        GroupedHelp.install(commandLine, Subcommand.groups());
        return commandLine
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(Main::reportMisuse)
                .setExecutionStrategy(Main::execute)
                .setExecutionExceptionHandler(main::reportFailure);
    }

    /** Errors, such as of memory, are told as exceptions are; picocli passes them on as they are. */
    private static int execute(ParseResult parsed) {
        try {
            return new CommandLine.RunLast().execute(parsed);
        } catch (StackOverflowError | OutOfMemoryError | AssertionError failure) {
            throw new CommandLine.ExecutionException(
                    parsed.commandSpec().commandLine(), "error", new ExecutionException(failure));
        }
    }

    @Override
    public void run() {
        throw new ParameterException(specification.commandLine(), "a command is missing");
    }

    private static int reportMisuse(ParameterException failure, String[] arguments) {
        CommandLine command = failure.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("roselle: " + UsageMessage.sentence(failure));
        err.println("See: " + command.getCommandSpec().qualifiedName() + " --help");
        err.flush();
        return ExitCode.USAGE.status();
    }

    private int reportFailure(Exception failure, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        err.println("roselle: " + ExitCode.sentence(failure));
        if (debug) {
            failure.printStackTrace(err);
        }
        err.flush();
        return ExitCode.of(failure).status();
    }
}
