package roselle.bench.metric;

import roselle.api.InvalidRequestException;

/**
 * A service-level objective: what a request has to keep to count as good, and a run to count as carried.
 *
 * @param ttftMillis time to first token at most
 * @param tbtMillis time between tokens at most: for a request its time per output token, for a run the p99 of all gaps
 * @param failureShare of the requests at most, 0 to 1
 */
public record Objective(double ttftMillis, double tbtMillis, double failureShare) {
    public Objective {
        if (!(ttftMillis > 0) || !(tbtMillis > 0) || !(failureShare >= 0 && failureShare < 1)) {
            throw new InvalidRequestException("an objective of " + ttftMillis + " ms, " + tbtMillis + " ms and "
                    + failureShare + " failures is not possible: times are above 0, the share is from 0 to below 1");
        }
    }

    /** Whether one request kept it. */
    public boolean isKeptBy(RequestSample sample) {
        return !sample.hasFailed()
                && sample.hasFirst()
                && sample.ttftMillis() <= ttftMillis
                && (!sample.hasTpot() || sample.tpotMillis() <= tbtMillis);
    }

    /** Whether a run kept it: p99 of TTFT, p99 of the gaps, and the share of failures. */
    public boolean isKeptBy(Latencies latencies, double failures) {
        return failures <= failureShare
                && !latencies.ttft().isEmpty()
                && latencies.ttft().p99() <= ttftMillis
                && (latencies.itl().isEmpty() || latencies.itl().p99() <= tbtMillis);
    }
}
