package roselle.engine;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** One step of the engine, for the flight recorder; one object serves all steps of an engine. */
@Name("roselle.Step")
@Label("Step")
@Category("Roselle")
@Description("The batch advanced once")
@StackTrace(false)
final class StepEvent extends Event {
    @Label("Number")
    @Description("Of the steps since the engine was opened")
    long number;

    @Label("Rows")
    @Description("Tokens of prompts and answers that were computed")
    int rows;

    @Label("Sequences")
    @Description("That advanced")
    int sequences;

    @Label("Overlapped")
    @Description("It was planned and launched before the tokens of the step before were awaited")
    boolean overlapped;

    @Label("Dropped")
    @Description("Sequences that had ended in the step before, when this one was launched already")
    int dropped;

    @Label("Running")
    int running;

    @Label("Waiting")
    int waiting;

    @Label("Preempted")
    int preempted;

    @Label("Used pages")
    int usedPages;

    @Label("Total pages")
    int totalPages;

    @Label("Plan")
    @Timespan(Timespan.NANOSECONDS)
    long planNanos;

    @Label("Forward")
    @Timespan(Timespan.NANOSECONDS)
    long forwardNanos;

    @Label("Sample")
    @Timespan(Timespan.NANOSECONDS)
    long sampleNanos;

    @Label("Commit")
    @Timespan(Timespan.NANOSECONDS)
    long commitNanos;
}
