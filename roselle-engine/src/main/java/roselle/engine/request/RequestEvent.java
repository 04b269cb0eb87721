package roselle.engine.request;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/** One request from submission to its end, for the flight recorder. */
@Name("roselle.Request")
@Label("Request")
@Category("Roselle")
@Description("A request ended")
@StackTrace(false)
final class RequestEvent extends Event {
    @Label("Id")
    @Description("Of the request's first sequence")
    long id;

    @Label("Choices")
    int choices;

    @Label("Prompt tokens")
    int promptTokens;

    @Label("Cached tokens")
    @Description("Of the prompt, from the prefix cache")
    int cachedTokens;

    @Label("Output tokens")
    @Description("Of all choices")
    int outputTokens;

    @Label("Queue time")
    @Timespan(Timespan.NANOSECONDS)
    long queueNanos;

    @Label("Time to first token")
    @Timespan(Timespan.NANOSECONDS)
    long firstTokenNanos;

    @Label("Total time")
    @Timespan(Timespan.NANOSECONDS)
    long totalNanos;

    @Label("Reason")
    @Description("Why the last choice ended, or how the request failed")
    String reason = "";
}
