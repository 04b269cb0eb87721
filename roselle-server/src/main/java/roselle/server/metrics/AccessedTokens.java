package roselle.server.metrics;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.server.answer.Observer;

/** The tokens of one request over HTTP, which may be several to the engine; its own thread alone uses it. */
final class AccessedTokens implements Observer.Listener {
    private static final long NEVER = Long.MIN_VALUE;

    private final long beginNanos;
    private String model = "";
    private long promptTokens;
    private long cachedTokens;
    private long outputTokens;
    private long firstNanos = NEVER;

    AccessedTokens(long beginNanos) {
        this.beginNanos = beginNanos;
    }

    Observer.Listener accepted(String name, int prompt) {
        model = name;
        promptTokens += prompt;
        return this;
    }

    @Override
    public void event(GenerationEvent event) {
        if (event instanceof TokenGenerated) {
            firstNanos = firstNanos == NEVER ? System.nanoTime() : firstNanos;
            outputTokens++;
        } else if (event instanceof Finished finished) {
            cachedTokens += finished.usage().cachedTokens();
        }
    }

    /** Adds what is known: of requests that no model has answered, the time alone. */
    void write(Map<String, Object> fields) {
        fields.put("millis", millis(System.nanoTime()));
        if (!model.isEmpty()) {
            fields.put("model", model);
            fields.put("prompt_tokens", promptTokens);
            fields.put("cached_tokens", cachedTokens);
            fields.put("output_tokens", outputTokens);
        }
        if (firstNanos != NEVER) {
            fields.put("first_token_millis", millis(firstNanos));
        }
    }

    private long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos - beginNanos);
    }
}
