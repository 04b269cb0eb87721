package roselle.cli.run;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
import roselle.api.TokenLogprob;
import roselle.api.Usage;
import tools.jackson.databind.json.JsonMapper;

/** Prints one JSON object when all answers have ended: texts, thoughts and calls, ids, reasons, log-probabilities if asked for, and usage. */
final class JsonOutput implements AnswerOutput {
    private final PrintWriter out;
    private final boolean withLogprobs;
    private final List<Choice> choices = new ArrayList<>();
    private final Map<String, Object> answer = new LinkedHashMap<>();

    private static final class Choice {
        final StringBuilder text = new StringBuilder();
        final StringBuilder reasoning = new StringBuilder();
        final List<Object> calls = new ArrayList<>();
        final List<Integer> ids = new ArrayList<>();
        final List<Object> logprobs = new ArrayList<>();
        String reason = "";
        String match = "";
    }

    JsonOutput(PrintWriter out, int choices, boolean withLogprobs) {
        this.out = out;
        this.withLogprobs = withLogprobs;
        for (int choice = 0; choice < choices; choice++) {
            this.choices.add(new Choice());
        }
    }

    @Override
    public void print(GenerationEvent event) {
        switch (event) {
            case PromptScored scored -> score(scored);
            case Reasoning thought -> choices.get(thought.choice()).reasoning.append(thought.text());
            case ToolCall call -> choices.get(call.choice()).calls.add(fields(call));
            case TokenGenerated token -> add(token);
            case ChoiceEnded end -> end(end);
            case Finished finished -> finish(finished.usage());
            case Failed _, ToolCallStarted _, ToolCallDelta _ -> {}
        }
    }

    private void score(PromptScored scored) {
        var prompt = new LinkedHashMap<String, Object>();
        prompt.put("ids", scored.ids());
        prompt.put("logprobs", scored.logprobs().stream().map(JsonOutput::token).toList());
        answer.put("prompt", prompt);
    }

    private void add(TokenGenerated token) {
        Choice choice = choices.get(token.choice());
        choice.ids.add(token.id());
        choice.text.append(token.text());
        choice.logprobs.add(token(token.logprobs()));
    }

    private void end(ChoiceEnded end) {
        Choice choice = choices.get(end.choice());
        choice.text.append(end.text());
        choice.reason = end.reason().name().toLowerCase(Locale.ROOT);
        choice.match = end.match();
    }

    /** The token itself, and under {@code top} the likeliest ones; the first token of a prompt has neither. */
    private static Map<String, Object> token(List<TokenLogprob> scores) {
        if (scores.isEmpty()) {
            return Map.of();
        }
        Map<String, Object> own = score(scores.getFirst());
        own.put("top", scores.stream().skip(1).map(JsonOutput::score).toList());
        return own;
    }

    private static Map<String, Object> score(TokenLogprob score) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("id", score.id());
        fields.put("text", score.text());
        fields.put("logprob", score.logprob());
        return fields;
    }

    private void finish(Usage usage) {
        answer.put("choices", choices.stream().map(this::fields).toList());
        answer.put("usage", fields(usage));
        out.println(JsonMapper.shared().writeValueAsString(answer));
        out.flush();
    }

    private Map<String, Object> fields(Choice choice) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("text", choice.text.toString());
        if (!choice.reasoning.isEmpty()) {
            fields.put("reasoning", choice.reasoning.toString());
        }
        if (!choice.calls.isEmpty()) {
            fields.put("tool_calls", choice.calls);
        }
        fields.put("ids", choice.ids);
        fields.put("finish_reason", choice.reason);
        if (!choice.match.isEmpty()) {
            fields.put("stop", choice.match);
        }
        if (withLogprobs) {
            fields.put("logprobs", choice.logprobs);
        }
        return fields;
    }

    private static Map<String, Object> fields(ToolCall call) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("id", call.id());
        fields.put("name", call.name());
        fields.put("arguments", call.arguments());
        return fields;
    }

    private static Map<String, Object> fields(Usage usage) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("prompt_tokens", usage.promptTokens());
        fields.put("cached_tokens", usage.cachedTokens());
        fields.put("completion_tokens", usage.completionTokens());
        fields.put("first_token_ms", usage.firstTokenNanos() / 1e6);
        fields.put("total_ms", usage.totalNanos() / 1e6);
        return fields;
    }
}
