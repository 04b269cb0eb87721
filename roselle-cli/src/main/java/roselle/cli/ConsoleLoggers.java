package roselle.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Where the executable's log goes: warnings and errors to standard error, one line each, and nothing else anywhere. The failure behind
 * an error, which is a defect of ours, follows with its causes and where they came from.
 *
 * <p>Found by the JDK as a service. It takes the place of {@code java.util.logging}, which would write start-up facts into
 * the midst of answers, and whose classes take a tenth of a second to load.
 */
public final class ConsoleLoggers extends System.LoggerFinder {
    @Override
    public System.Logger getLogger(String name, Module module) {
        return new Console(name);
    }

    private record Console(String name) implements System.Logger {
        @Override
        public String getName() {
            return name;
        }

        @Override
        public boolean isLoggable(Level level) {
            return level.getSeverity() >= Level.WARNING.getSeverity() && level != Level.OFF;
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
            if (isLoggable(level)) {
                String line = "roselle: " + level + " " + message + (thrown == null ? "" : ": " + thrown);
                System.err.println(
                        thrown != null && level == Level.ERROR ? line + System.lineSeparator() + frames(thrown) : line);
            }
        }

        private static String frames(Throwable thrown) {
            var text = new StringWriter();
            thrown.printStackTrace(new PrintWriter(text));
            return text.toString().stripTrailing();
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... values) {
            if (isLoggable(level) && format != null) {
                boolean isPlain = values == null || values.length == 0;
                log(level, bundle, isPlain ? format : MessageFormat.format(format, values), (Throwable) null);
            }
        }
    }
}
