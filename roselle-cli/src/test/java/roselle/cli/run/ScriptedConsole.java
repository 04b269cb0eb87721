package roselle.cli.run;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** Says one line after the other, and may press Ctrl-C as soon as that stops an answer. */
final class ScriptedConsole implements ChatConsole {
    private final Deque<String> lines;
    private final StringWriter printed = new StringWriter();
    private boolean interrupts;

    ScriptedConsole(List<String> lines) {
        this.lines = new ArrayDeque<>(lines);
    }

    /** From now on it presses Ctrl-C. */
    void interrupt() {
        interrupts = true;
    }

    /** All that was printed. */
    String printed() {
        return printed.toString();
    }

    @Override
    public Optional<String> read() {
        return Optional.ofNullable(lines.poll());
    }

    @Override
    public PrintWriter out() {
        return new PrintWriter(printed);
    }

    @Override
    public void clear() {
        printed.append("<cleared>");
    }

    @Override
    public void onInterrupt(Runnable action) {
        if (interrupts) {
            action.run();
        }
    }

    @Override
    public void close() {}
}
