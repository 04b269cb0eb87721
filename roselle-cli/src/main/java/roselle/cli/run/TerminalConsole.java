package roselle.cli.run;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jline.keymap.KeyMap;
import org.jline.reader.EOFError;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.ParsedLine;
import org.jline.reader.Parser;
import org.jline.reader.UserInterruptException;
import org.jline.reader.Widget;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.Terminal;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.Terminal.SignalHandler;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.InfoCmp;

/**
 * A terminal with editing and history. A line that ends in a backslash goes on in the next one, text between lines of three
 * double quotes is taken as it is, and Alt-Enter starts a new line.
 */
final class TerminalConsole implements ChatConsole {
    private static final String QUOTES = "\"\"\"";
    private static final String PROMPT = "> ";

    private final Terminal terminal;
    private final LineReader reader;

    TerminalConsole(Terminal terminal, Path history) {
        this.terminal = terminal;
        reader = LineReaderBuilder.builder()
                .terminal(terminal)
                .parser(new MultiLine())
                .completer(new SessionCompleter())
                .variable(LineReader.HISTORY_FILE, history)
                .variable(LineReader.SECONDARY_PROMPT_PATTERN, ". ")
                .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                .option(LineReader.Option.HISTORY_IGNORE_SPACE, true)
                .build();
        Widget newLine = this::beginLine;
        reader.getWidgets().put("new-line", newLine);
        Optional.ofNullable(reader.getKeyMaps().get(LineReader.MAIN))
                .ifPresent(keys -> keys.bind(newLine, KeyMap.alt('\r'), KeyMap.alt('\n')));
    }

    private boolean beginLine() {
        reader.getBuffer().write('\n');
        return true;
    }

    /** The terminal that the program runs in, through the C library of the system rather than a native one of JLine's. */
    static TerminalConsole open() {
        try {
            Terminal terminal = TerminalBuilder.builder()
                    .system(true)
                    .jni(false)
                    .ffm(true)
                    .exec(true)
                    .build();
            return new TerminalConsole(terminal, historyFile());
        } catch (IOException unavailable) {
            throw new UncheckedIOException(unavailable);
        }
    }

    /** In the folder for a user's state, as the XDG specification has it. */
    private static Path historyFile() throws IOException {
        String state = System.getenv("XDG_STATE_HOME");
        Path folder = state == null || state.isEmpty()
                ? Path.of(System.getProperty("user.home"), ".local", "state")
                : Path.of(state);
        return Files.createDirectories(folder.resolve("roselle")).resolve("history");
    }

    @Override
    public Optional<String> read() {
        terminal.handle(Signal.INT, SignalHandler.SIG_DFL);
        while (true) {
            try {
                return Optional.of(unwrapped(reader.readLine(PROMPT)));
            } catch (UserInterruptException abandoned) {
                if (abandoned.getPartialLine().isEmpty()) {
                    out().println("Ctrl-D or /exit ends the conversation.");
                    out().flush();
                }
            } catch (EndOfFileException _) {
                return Optional.empty();
            }
        }
    }

    /** Three quotes around a text, and backslashes at the ends of its lines, are for this console only. */
    private static String unwrapped(String line) {
        String text = line.strip();
        if (text.startsWith(QUOTES) && text.endsWith(QUOTES) && text.length() >= 2 * QUOTES.length()) {
            return text.substring(QUOTES.length(), text.length() - QUOTES.length())
                    .strip();
        }
        return text.replace("\\\n", "\n");
    }

    @Override
    public PrintWriter out() {
        return terminal.writer();
    }

    @Override
    public boolean isStyled() {
        return AnswerLayout.areStylesWanted(System.getenv());
    }

    @Override
    public void clear() {
        terminal.puts(InfoCmp.Capability.clear_screen);
        terminal.flush();
    }

    @Override
    public void onInterrupt(Runnable action) {
        terminal.handle(Signal.INT, _ -> action.run());
    }

    @Override
    public void close() {
        try {
            terminal.close();
        } catch (IOException unavailable) {
            throw new UncheckedIOException(unavailable);
        }
    }

    /** Tells whether a text is complete; words do not matter here. */
    private static final class MultiLine implements Parser {
        private final DefaultParser words =
                new DefaultParser().quoteChars(new char[0]).escapeChars(new char[0]);

        @Override
        public ParsedLine parse(String line, int cursor, ParseContext context) {
            String text = line.strip();
            boolean isQuoted = text.startsWith(QUOTES);
            boolean isClosed = text.length() >= 2 * QUOTES.length() && text.endsWith(QUOTES);
            if (context == ParseContext.ACCEPT_LINE && (isQuoted ? !isClosed : text.endsWith("\\"))) {
                throw new EOFError(-1, cursor, "more to come");
            }
            return words.parse(line, cursor, context);
        }
    }
}
