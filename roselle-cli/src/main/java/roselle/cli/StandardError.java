package roselle.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;

/**
 * The standard error that the launcher hands over.
 *
 * <p>The JVM warns on descriptor 2 that the vector module incubates, and has no switch for it. The launcher therefore
 * gives the JVM a pipe that drops this line, and the true standard error as another descriptor, which this class makes
 * {@link System#err}. A descriptor has no public constructor; the launcher opens {@code java.io} to this module.
 */
final class StandardError {
    private static final String DESCRIPTOR = "roselle.standardError";

    private StandardError() {}

    /** Without a launcher, or when the descriptor cannot be had, System.err stays as it is and still works. */
    static void adopt() {
        Integer descriptor = Integer.getInteger(DESCRIPTOR);
        if (descriptor == null) {
            return;
        }
        try {
            var constructor = FileDescriptor.class.getDeclaredConstructor(int.class);
            constructor.setAccessible(true);
            var stream = new FileOutputStream(constructor.newInstance(descriptor));
            System.setErr(
                    new PrintStream(stream, true, Charset.forName(System.getProperty("stderr.encoding", "UTF-8"))));
        } catch (ReflectiveOperationException | RuntimeException unavailable) {
            System.Logger logger = System.getLogger(StandardError.class.getName());
            logger.log(System.Logger.Level.DEBUG, "standard error stays a pipe", unavailable);
        }
    }
}
