package roselle.engine;

import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.api.TokenLogprob;
import roselle.conversation.AnswerParser;
import roselle.conversation.AnswerPart;
import roselle.conversation.ConversationFormat;
import roselle.tokenizer.Tokenizer;

/** One choice of a request on the reader's side: its ids become text, its text parts, and all of them events. */
final class Choice {
    private final int number;
    private final AnswerText written;
    private final AnswerParser parser;
    private @Nullable FinishReason reason;

    private Choice(int number, AnswerText written, AnswerParser parser) {
        this.number = number;
        this.written = written;
        this.parser = parser;
    }

    /** The choices of a request at their beginning; only answers to chats are split. */
    static Choice[] of(GenerationRequest request, int[] prompt, Tokenizer tokenizer, ConversationFormat format) {
        boolean isChat = request.prompt() instanceof Prompt.Chat;
        boolean mayCall =
                request.prompt() instanceof Prompt.Chat chat && !chat.tools().isEmpty();
        var choices = new Choice[request.output().choices()];
        for (int number = 0; number < choices.length; number++) {
            var written = new AnswerText(tokenizer, prompt, request.stop().stopStrings());
            var parser = (isChat ? format : ConversationFormat.PLAIN).parser(prompt, mayCall);
            choices[number] = new Choice(number, written, parser);
        }
        return choices;
    }

    boolean hasEnded() {
        return reason != null;
    }

    /** Whether a stop string has been written. */
    boolean hasStopped() {
        return !written.match().isEmpty();
    }

    /** Why it ended; what has not is taken for cancelled. */
    FinishReason reason() {
        return reason == null ? FinishReason.CANCELLED : reason;
    }

    int reasoningTokens() {
        return parser.thoughtTokens();
    }

    void token(int id, List<TokenLogprob> logprobs, Queue<GenerationEvent> events) {
        String raw = written.append(id);
        String text = tell(parser.append(id, raw), events);
        events.add(new TokenGenerated(number, id, text, raw, logprobs));
    }

    void end(FinishReason given, Queue<GenerationEvent> events) {
        String raw = written.finish();
        FinishReason told = hasStopped() ? FinishReason.STOP : given;
        reason = told;
        String text = tell(parser.finish(raw), events);
        events.add(new ChoiceEnded(number, told, text, raw, written.match()));
    }

    /** Adds what is said beside the answer's text, and returns that. */
    private String tell(List<AnswerPart> parts, Queue<GenerationEvent> events) {
        String text = "";
        for (AnswerPart part : parts) {
            switch (part) {
                case AnswerPart.Text said -> text = text.isEmpty() ? said.text() : text + said.text();
                case AnswerPart.Thought thought -> events.add(new Reasoning(number, thought.text()));
                case AnswerPart.Call call ->
                    events.add(new ToolCall(number, call.index(), call.name(), call.arguments()));
            }
        }
        return text;
    }
}
