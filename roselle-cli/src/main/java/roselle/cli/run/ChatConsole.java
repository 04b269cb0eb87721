package roselle.cli.run;

import java.io.PrintWriter;
import java.util.Optional;

/** Where a conversation's user sits. */
interface ChatConsole extends AutoCloseable {
    /** What the user says next; empty when the user leaves. */
    Optional<String> read();

    PrintWriter out();

    /** Whether it shows styles, such as bold letters and colours. */
    default boolean isStyled() {
        return false;
    }

    /** Empties the screen, where there is one. */
    void clear();

    /** Does {@code action} instead of ending the program when the user presses Ctrl-C, until the next {@link #read}. */
    void onInterrupt(Runnable action);

    @Override
    void close();
}
