package roselle.cli.report;

import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code roselle version}: one line with the version of Roselle, of Java and of the platform. */
@Command(name = "version")
public final class VersionCommand implements Runnable, IVersionProvider {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Override
    public void run() {
        var out = specification.commandLine().getOut();
        out.println(line());
        out.flush();
    }

    @Override
    public String[] getVersion() {
        return new String[] {line()};
    }

    /** Scripts and installers ask for the version alone; it is told without the command line's parser. */
    public static boolean isAllOf(String[] arguments) {
        return arguments.length == 1 && arguments[0].equals("version");
    }

    public static String line() {
        return "roselle %s (Java %s, %s %s)"
                .formatted(version(), Runtime.version(), System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    /** The version that the build wrote into the module, which only a module path keeps. */
    private static String version() {
        var descriptor = VersionCommand.class.getModule().getDescriptor();
        return descriptor == null ? "development" : descriptor.rawVersion().orElse("development");
    }
}
