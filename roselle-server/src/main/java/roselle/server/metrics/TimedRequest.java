package roselle.server.metrics;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
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
import roselle.api.Usage;
import roselle.server.access.GatewayHeaders;
import roselle.server.answer.Observer;

/** One request while it is answered; its own thread alone uses it. */
final class TimedRequest implements Observer.Listener {
    private final RequestMeters meters;
    private final long beginNanos;
    private final long[] lastNanos; // of each choice's latest token; 0 before the first
    private final int[] tokens; // of each choice
    private final Optional<GatewayHeaders> wanted;
    private boolean hasToken;
    private boolean isOver;

    TimedRequest(RequestMeters meters, int choices, long beginNanos, Optional<GatewayHeaders> wanted) {
        this.wanted = wanted;
        this.meters = meters;
        this.beginNanos = beginNanos;
        lastNanos = new long[choices];
        tokens = new int[choices];
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
        tokens[choice]++;
    }

    private void finish(Finished finished) {
        Usage usage = finished.usage();
        meters.queue.record(usage.queueNanos(), TimeUnit.NANOSECONDS);
        meters.total.record(usage.totalNanos(), TimeUnit.NANOSECONDS);
        if (usage.firstTokenNanos() > 0) {
            meters.prefill.record(usage.firstTokenNanos() - usage.queueNanos(), TimeUnit.NANOSECONDS);
            meters.decode.record(usage.totalNanos() - usage.firstTokenNanos(), TimeUnit.NANOSECONDS);
        }
        meters.promptTokens.record(usage.promptTokens());
        meters.generatedTokens.record(usage.completionTokens());
        int longest = Arrays.stream(tokens).max().orElse(0);
        meters.longestAnswer.record(longest);
        wanted.ifPresent(headers -> compare(headers, usage, longest));
        end(finished.reasons().getLast().name().toLowerCase(Locale.ROOT));
    }

    private void compare(GatewayHeaders headers, Usage usage, int longest) {
        if (!headers.firstToken().isZero()) {
            meters.objective(
                    "ttft", usage.firstTokenNanos() <= headers.firstToken().toNanos());
        }
        if (!headers.nextToken().isZero() && longest > 1) {
            long perToken = (usage.totalNanos() - usage.firstTokenNanos()) / (longest - 1);
            meters.objective("tpot", perToken <= headers.nextToken().toNanos());
        }
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
