package roselle.cli.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The file by which a run tells the launcher that it came to something, so that the classes it has loaded are those that the
 * next run will need. Only the start of later runs depends on it, so whatever goes wrong with it is silent.
 */
public final class StartMark {
    private static final String PROPERTY = "roselle.startMark";

    private StartMark() {}

    /** Makes it, where the launcher wants to know. */
    public static void set() {
        String file = System.getProperty(PROPERTY);
        if (file == null) {
            return;
        }
        try {
            Files.createFile(Path.of(file));
        } catch (IOException unneeded) { // there is one, or nobody waits for it any more
            System.getLogger(StartMark.class.getName()).log(System.Logger.Level.DEBUG, "no start mark", unneeded);
        }
    }
}
