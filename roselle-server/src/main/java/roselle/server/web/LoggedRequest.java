package roselle.server.web;

import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.Usage;
import roselle.server.answer.Observer;
import roselle.server.http.JsonWriter;

/** One request in the log: written by the thread that answers it, read by those that show it. */
final class LoggedRequest implements Observer.Listener {
    private static final long NEVER = Long.MIN_VALUE;

    private enum State {
        RUNNING,
        DONE,
        FAILED,
        CANCELLED
    }

    private final RequestLog log;
    private final String id;
    private final String model;
    private final int promptTokens;
    private final long beginNanos;
    private volatile long lastNanos = NEVER;
    private volatile State state = State.RUNNING;
    private volatile long firstNanos = NEVER;
    private volatile long endNanos = NEVER;
    private volatile long queueNanos;
    private volatile int cachedTokens;
    private volatile int outputTokens;

    LoggedRequest(RequestLog log, String id, String model, int promptTokens) {
        this.log = log;
        this.id = id;
        this.model = model;
        this.promptTokens = promptTokens;
        beginNanos = System.nanoTime();
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    public void event(GenerationEvent event) {
        switch (event) {
            case TokenGenerated _ -> {
                token(System.nanoTime());
                outputTokens++;
            }
            case Finished finished -> finish(finished.usage());
            case Failed _ -> {
                log.failure();
                end(State.FAILED);
            }
            case PromptScored _, Reasoning _, ToolCallStarted _, ToolCallDelta _, ToolCall _, ChoiceEnded _ -> {}
        }
    }

    private void token(long now) {
        if (firstNanos == NEVER) {
            firstNanos = now;
            log.firstToken(now - beginNanos);
        } else {
            log.nextToken(now - lastNanos);
        }
        lastNanos = now;
    }

    private void finish(Usage usage) {
        queueNanos = usage.queueNanos();
        cachedTokens = usage.cachedTokens();
        end(State.DONE);
    }

    @Override
    public void closed() {
        if (state == State.RUNNING) {
            end(State.CANCELLED);
        }
    }

    private void end(State reached) {
        endNanos = System.nanoTime();
        state = reached;
    }

    /** Writes an object; times are milliseconds since {@code originNanos}. */
    void write(JsonWriter json, long originNanos) {
        State shown = state;
        json.object()
                .field("id", id)
                .field("model", model)
                .field("state", name(shown))
                .field("prompt_tokens", promptTokens)
                .field("cached_tokens", cachedTokens)
                .field("output_tokens", outputTokens)
                .field("queue_millis", millis(queueNanos))
                .field("begin_millis", millis(beginNanos - originNanos));
        time(json, "first_millis", firstNanos, originNanos);
        time(json, "last_millis", lastNanos, originNanos);
        if (shown != State.RUNNING) {
            time(json, "end_millis", endNanos, originNanos);
        }
        json.endObject();
    }

    private static void time(JsonWriter json, String name, long nanos, long originNanos) {
        if (nanos != NEVER) {
            json.field(name, millis(nanos - originNanos));
        }
    }

    private static double millis(long nanos) {
        return Math.round(nanos / 1e4) / 100.0;
    }

    private static String name(State state) {
        return switch (state) {
            case RUNNING -> "running";
            case DONE -> "done";
            case FAILED -> "failed";
            case CANCELLED -> "cancelled";
        };
    }
}
