package roselle.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import roselle.cli.report.ExitCode;

/** Whether what was printed has arrived: a stream for printing keeps to itself that it has not. */
final class StandardOutput {
    private static final String NOBODY_READS = "Broken pipe";

    private StandardOutput() {}

    /** The status of a command that has done its work: that of the disk where there was no room for what it printed. */
    static int status() {
        if (!System.out.checkError()) {
            return ExitCode.OK.status();
        }
        try {
            new FileOutputStream(FileDescriptor.out).write('\n'); // what it failed of, it fails of again
        } catch (IOException failure) {
            if (String.valueOf(failure.getMessage()).equals(NOBODY_READS)) {
                return ExitCode.OK.status(); // who read it had enough
            }
            System.err.println("roselle: standard output cannot be written (" + failure.getMessage()
                    + "): some of what was printed is lost");
        }
        return ExitCode.DISK.status();
    }
}
