package roselle.cli.model;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.execution.TextWindows;

/**
 * A text that a command has a model read in windows.
 *
 * @param context tokens of a window
 * @param windows that are read, from the text's beginning; 0 for all
 */
record WindowedText(CommandSpec command, int context, int windows) {
    /** The longest text that is read. */
    static final int MOST_BYTES = 256 << 20;

    WindowedText {
        if (context < 4 || windows < 0) {
            throw new ParameterException(
                    command.commandLine(),
                    "--context is " + context + " and --windows " + windows + ", expected 4 or more, and 0 or more");
        }
    }

    /** The windows as the tokenizer of a model cuts them. */
    List<int[]> cut(Path model, String text) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return TextWindows.of(text, checkpoint.tokenizer(), context, windows);
        }
    }

    /** Says on standard error how many of the windows are done. */
    IntConsumer progress(int all) {
        PrintWriter err = command.commandLine().getErr();
        return done -> {
            err.printf(Locale.ROOT, "window %d of %d%n", done, all);
            err.flush();
        };
    }
}
