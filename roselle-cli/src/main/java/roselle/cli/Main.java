package roselle.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point of the one executable. */
@Command(name = "roselle", mixinStandardHelpOptions = true)
public final class Main implements Runnable {
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public void run() {
        CommandLine.usage(this, System.out);
    }
}
