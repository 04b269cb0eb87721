package roselle.server.metrics;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
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
import roselle.server.answer.Observer;

/** One request while it is answered; its own thread alone uses it. */
final class TimedRequest implements Observer.Listener {
    private final RequestMeters meters;
    private final long beginNanos;
    private final long[] lastNanos; // of each choice's latest token; 0 before the first
    private boolean hasToken;
    private boolean isOver;

    TimedRequest(RequestMeters meters, int choices, long beginNanos) {
        this.meters = meters;
        this.beginNanos = beginNanos;
        lastNanos = new long[choices];
    }

    @Override
    public void event(GenerationEvent event) {
        switch (event) {
            case TokenGenerated token -> token(token.choice(), System.nanoTime());
            case Finished finished -> finish(finished);
            case Failed _ -> end("failed");
            case PromptScored _, Reasoning _, ToolCallStarted _, ToolCallDelta _, ToolCall _, ChoiceEnded _ -> {}
        }
    }

    private void token(int choice, long now) {
        if (!hasToken) {
            hasToken = true;
            meters.firstToken.record(now - beginNanos, TimeUnit.NANOSECONDS);
        }
        if (lastNanos[choice] != 0) {
            meters.nextToken.record(now - lastNanos[choice], TimeUnit.NANOSECONDS);
        }
        lastNanos[choice] = now;
    }

    private void finish(Finished finished) {
        meters.queue.record(finished.usage().queueNanos(), TimeUnit.NANOSECONDS);
        meters.total.record(finished.usage().totalNanos(), TimeUnit.NANOSECONDS);
        end(finished.reasons().getLast().name().toLowerCase(Locale.ROOT));
    }

    private void end(String outcome) {
        if (!isOver) {
            isOver = true;
            meters.ended(outcome);
        }
    }

    @Override
    public void closed() {
        end("cancelled");
    }
}
