package roselle.cli.run;

import java.util.Locale;
import roselle.api.Usage;

/** Tells in two lines what a request took: tokens, time to the first of them, and tokens per second. */
final class SpeedReport {
    private SpeedReport() {}

    static String of(Usage usage) {
        int computed = usage.promptTokens() - usage.cachedTokens();
        long promptNanos = usage.firstTokenNanos() - usage.queueNanos();
        long answerNanos = usage.totalNanos() - usage.firstTokenNanos();
        return String.format(
                Locale.ROOT,
                "prompt     %d tokens, %d cached; first token after %.1f ms; %s%n"
                        + "answer     %d tokens in %.2f s; %s%n",
                usage.promptTokens(),
                usage.cachedTokens(),
                usage.firstTokenNanos() / 1e6,
                rate(computed, promptNanos),
                usage.completionTokens(),
                usage.totalNanos() / 1e9,
                rate(usage.completionTokens() - 1, answerNanos));
    }

    private static String rate(int tokens, long nanos) {
        return tokens <= 0 || nanos <= 0
                ? "too short to tell tokens/s"
                : String.format(Locale.ROOT, "%.1f tokens/s", tokens * 1e9 / nanos);
    }
}
