package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import roselle.api.ChatMessage;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.TokenLogprob;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.prompt.AssistantTurn;
import roselle.server.responses.OutputItem.FunctionCall;
import roselle.server.responses.OutputItem.Message;
import roselle.server.responses.OutputItem.Spoken;
import roselle.server.responses.OutputItem.Status;
import roselle.server.responses.OutputItem.Thoughts;
import roselle.tokenizer.Tokenizer;

/** The output of a response as it grows: items of thoughts, text and calls, one after the other, of which the last may be open. */
final class ResponseOutput {
    /** Hears how the output grows. */
    interface Watcher {
        /** Hears nothing. */
        Watcher NONE = new Watcher() {
            @Override
            public void opened(int index, OutputItem item) {}

            @Override
            public void grown(int index, OutputItem item, String text, List<TokenLogprob> scores) {}

            @Override
            public void closed(int index, OutputItem item, Status status) {}
        };

        void opened(int index, OutputItem item);

        void grown(int index, OutputItem item, String text, List<TokenLogprob> scores);

        void closed(int index, OutputItem item, Status status);
    }

    private final Tokenizer tokenizer;
    private final Watcher watcher;
    private final boolean encodesThoughts;
    private final List<OutputItem> items = new ArrayList<>();
    private boolean isOpen;
    private Status last = Status.COMPLETED;

    ResponseOutput(Tokenizer tokenizer, Watcher watcher, boolean encodesThoughts) {
        this.tokenizer = tokenizer;
        this.watcher = watcher;
        this.encodesThoughts = encodesThoughts;
    }

    List<OutputItem> items() {
        return Collections.unmodifiableList(items);
    }

    Status status(int index) {
        return index == items.size() - 1 ? last : Status.COMPLETED;
    }

    void add(Reasoning thought) {
        Thoughts item = isOpen && items.getLast() instanceof Thoughts open ? open : open(new Thoughts(encodesThoughts));
        grow(item, thought.text(), List.of());
    }

    void add(ToolCallStarted call) {
        open(new FunctionCall(call.id(), call.name()));
    }

    void add(ToolCallDelta delta) {
        if (items.getLast() instanceof FunctionCall made) {
            made.builder().append(delta.arguments());
            watcher.grown(items.size() - 1, made, delta.arguments(), List.of());
        }
    }

    /** The call is complete, or the answer has ended within it. */
    void add(ToolCall call) {
        close(Status.COMPLETED);
    }

    void add(TokenGenerated token) {
        if (!token.text().isEmpty()) {
            say(token.text(), token.logprobs());
        } else if (token.raw().isEmpty() && !tokenizer.isSpecial(token.id())) { // half of a character
            if (isOpen && items.getLast() instanceof Message message) {
                grow(message, "", token.logprobs());
            }
        }
    }

    /** Adds what was held back, and closes the last item; an answer of nothing is an empty message. */
    void end(ChoiceEnded end) {
        if (!end.text().isEmpty()) {
            say(end.text(), List.of());
        }
        if (items.isEmpty()) {
            open(new Message());
        }
        close(end.reason() == FinishReason.STOP ? Status.COMPLETED : Status.INCOMPLETE);
    }

    private void say(String text, List<TokenLogprob> scores) {
        grow(isOpen && items.getLast() instanceof Message open ? open : open(new Message()), text, scores);
    }

    private <T extends OutputItem> T open(T item) {
        close(Status.COMPLETED);
        items.add(item);
        isOpen = true;
        watcher.opened(items.size() - 1, item);
        return item;
    }

    private void grow(Spoken item, String text, List<TokenLogprob> scores) {
        item.builder().append(text);
        if (item instanceof Message message && !scores.isEmpty()) {
            message.logprobs().add(scores);
        }
        watcher.grown(items.size() - 1, item, text, scores);
    }

    private void close(Status status) {
        if (isOpen) {
            isOpen = false;
            last = status;
            watcher.closed(items.size() - 1, items.getLast(), status);
        }
    }

    /** The output as the turn of a conversation that may go on. */
    ChatMessage message() {
        var turn = new AssistantTurn();
        for (OutputItem item : items) {
            switch (item) {
                case Message message -> turn.say(message.text());
                case Thoughts thoughts -> turn.think(thoughts.text());
                case FunctionCall made -> turn.call(made.callId(), made.name(), arguments(made.text()));
            }
        }
        return turn.message();
    }

    private static Object arguments(String written) {
        try {
            return Json.object(written.getBytes(StandardCharsets.UTF_8)).plain();
        } catch (ApiException _) { // what a model writes may be anything
            return written;
        }
    }
}
