package roselle.cli.serve;

import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;

/**
 * A recording of the latest steps and requests, in memory alone, for whoever has to find out afterwards what happened: {@code
 * jcmd PID JFR.dump name=roselle filename=incident.jfr}.
 *
 * <p>The flight recorder's buffers hold its latest 10 MB, which are some 100,000 steps, and nothing is written to disk unless
 * someone asks.
 */
final class BlackBox {
    private static final String NAME = "roselle";

    private BlackBox() {}

    /** Begins within a moment, while others go on: the recorder takes a tenth of a second to start, which nobody shall wait for. */
    static void startAside() {
        Thread.ofPlatform().name("roselle-black-box").daemon(true).start(() -> {
            try {
                start();
            } catch (IllegalStateException ending) { // a process that ends takes no recorder any more
                System.getLogger(BlackBox.class.getName()).log(System.Logger.Level.DEBUG, "no black box", ending);
            }
        });
    }

    /** Begins to record until the process ends, where this JVM has a recorder; tells whether it has. */
    static boolean start() {
        if (!FlightRecorder.isAvailable()) {
            return false;
        }
        var recording = new Recording();
        recording.setName(NAME);
        recording.setToDisk(false);
        recording.enable("roselle.Step");
        recording.enable("roselle.Request");
        recording.enable("jdk.GCPhasePause");
        recording.enable("jdk.CPULoad");
        recording.enable("jdk.GCHeapSummary");
        recording.start();
        return true;
    }
}
