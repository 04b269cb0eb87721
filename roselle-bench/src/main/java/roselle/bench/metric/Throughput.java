package roselle.bench.metric;

import java.util.List;

/**
 * What a run produced, and in which time.
 *
 * @param requests that were sent
 * @param failed of them
 * @param promptTokens of those that came to their end, as the endpoint counts them where it tells
 * @param outputTokens of those that came to their end
 * @param chunks events that carried these tokens
 * @param counted how many of the requests have an output counted by the endpoint, not by chunks
 * @param seconds from the first intended start to the last end
 */
public record Throughput(
        int requests, int failed, long promptTokens, long outputTokens, long chunks, int counted, double seconds) {
    public static Throughput of(List<RequestSample> samples) {
        List<RequestSample> good =
                samples.stream().filter(sample -> !sample.hasFailed()).toList();
        long first = samples.stream().mapToLong(RequestSample::intended).min().orElse(0);
        long last = samples.stream().mapToLong(RequestSample::ended).max().orElse(0);
        return new Throughput(
                samples.size(),
                samples.size() - good.size(),
                good.stream()
                        .mapToLong(sample -> sample.usage()
                                .map(RequestSample.TokenUsage::prompt)
                                .orElse(sample.promptTokens()))
                        .sum(),
                good.stream().mapToLong(RequestSample::tokens).sum(),
                good.stream().mapToLong(sample -> sample.chunks().count()).sum(),
                (int) good.stream().filter(sample -> sample.usage().isPresent()).count(),
                (last - first) / 1e9);
    }

    public double requestsPerSecond() {
        return (requests - failed) / seconds;
    }

    public double outputTokensPerSecond() {
        return outputTokens / seconds;
    }

    public double totalTokensPerSecond() {
        return (promptTokens + outputTokens) / seconds;
    }

    public double failureShare() {
        return requests == 0 ? 0 : (double) failed / requests;
    }

    /** Requests per second that kept an objective. */
    public double goodput(List<RequestSample> samples, Objective objective) {
        return samples.stream().filter(objective::isKeptBy).count() / seconds;
    }
}
