package roselle.engine.answer;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.api.TokenLogprob;
import roselle.conversation.AnswerParser;
import roselle.conversation.AnswerPart;
import roselle.conversation.ConversationFormat;
import roselle.tokenizer.Tokenizer;

/** One choice of a request on the reader's side: its ids become text, its text parts, and all of them events. */
public final class Choice {
    private final int number;
    private final AnswerText written;
    private final AnswerParser parser;
    private final ArrayDeque<AnswerPart> waiting = new ArrayDeque<>(); // behind text that the same token made certain
    private final boolean mayStop;
    private final boolean isParallel;
    private boolean hasCalledAlone;
    private @Nullable FinishReason reason;

    /**
     * @param mayStop whether what it writes can end it
     * @param isParallel whether the answer may call more than one tool
     */
    private Choice(int number, AnswerText written, AnswerParser parser, boolean mayStop, boolean isParallel) {
        this.number = number;
        this.written = written;
        this.parser = parser;
        this.mayStop = mayStop;
        this.isParallel = isParallel;
    }

    /** The choices of a request at their beginning; only answers to chats are split. */
    public static Choice[] of(GenerationRequest request, int[] prompt, Tokenizer tokenizer, ConversationFormat format) {
        boolean isChat = request.prompt() instanceof Prompt.Chat;
        var tools = request.prompt() instanceof Prompt.Chat chat ? chat.callable() : List.<Map<String, Object>>of();
        boolean isParallel = !(request.prompt() instanceof Prompt.Chat chat)
                || chat.toolUse().isParallel();
        var own = isChat ? format : ConversationFormat.PLAIN;
        boolean mayStop = !isParallel || !request.stop().stopStrings().isEmpty();
        var choices = new Choice[request.output().choices()];
        for (int number = 0; number < choices.length; number++) {
            var written = new AnswerText(tokenizer, own, prompt, request.stop().stopStrings());
            choices[number] = new Choice(number, written, own.parser(tokenizer, prompt, tools), mayStop, isParallel);
        }
        return choices;
    }

    public boolean hasEnded() {
        return reason != null;
    }

    /** Whether it can be that what it writes ends it, so that it must be read as it comes. */
    public boolean mayStop() {
        return mayStop;
    }

    /** Whether a stop string has been written, or the one call that may be. */
    public boolean hasStopped() {
        return hasCalledAlone || !written.match().isEmpty();
    }

    /** Why it ended; what has not is taken for cancelled. */
    public FinishReason reason() {
        return reason == null ? FinishReason.CANCELLED : reason;
    }

    public int reasoningTokens() {
        return parser.thoughtTokens();
    }

    public void token(int id, List<TokenLogprob> logprobs, Queue<GenerationEvent> events) {
        String raw = written.append(id);
        waiting.addAll(parser.append(written.marked()));
        String text = tell(false, events);
        events.add(new TokenGenerated(number, id, text, raw, logprobs));
    }

    public void end(FinishReason given, Queue<GenerationEvent> events) {
        String raw = written.finish();
        FinishReason told = hasStopped() ? FinishReason.STOP : given;
        reason = told;
        List<AnswerPart> last = parser.finish(written.marked());
        if (!hasCalledAlone) {
            waiting.addAll(last);
        }
        String text = tell(true, events);
        events.add(new ChoiceEnded(number, told, text, raw, written.match()));
    }

    /**
     * Adds what is said beside the answer's text, and returns that. It is told last, so what comes behind it waits for the next
     * token, if there is one.
     */
    private String tell(boolean isLast, Queue<GenerationEvent> events) {
        String text = "";
        while (!waiting.isEmpty() && (isLast || text.isEmpty() || waiting.element() instanceof AnswerPart.Text)) {
            switch (waiting.remove()) {
                case AnswerPart.Text said -> text += said.text();
                case AnswerPart.Thought thought -> events.add(new Reasoning(number, thought.text()));
                case AnswerPart.CallStarted call ->
                    events.add(new ToolCallStarted(number, call.index(), call.id(), call.name()));
                case AnswerPart.CallDelta delta ->
                    events.add(new ToolCallDelta(number, delta.index(), delta.arguments()));
                case AnswerPart.Call call -> {
                    events.add(new ToolCall(number, call.index(), call.id(), call.name(), call.arguments()));
                    endWithCall();
                }
            }
        }
        return text;
    }

    private void endWithCall() {
        if (!isParallel) {
            hasCalledAlone = true;
            waiting.clear();
        }
    }
}
