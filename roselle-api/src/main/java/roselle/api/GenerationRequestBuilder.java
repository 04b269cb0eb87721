package roselle.api;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Collects a {@link GenerationRequest}; names and defaults are those of the records it fills. */
public final class GenerationRequestBuilder {
    private @Nullable Prompt prompt;
    private final List<ChatMessage> messages = new ArrayList<>();
    private final List<Map<String, Object>> tools = new ArrayList<>();
    private final Map<String, Object> templateVariables = new HashMap<>();
    private ToolUse toolUse = ToolUse.AUTO;

    private double temperature = SamplingParameters.DEFAULT.temperature();
    private int topK = SamplingParameters.DEFAULT.topK();
    private double topP = SamplingParameters.DEFAULT.topP();
    private double minP = SamplingParameters.DEFAULT.minP();
    private double typicalP = SamplingParameters.DEFAULT.typicalP();
    private double repetitionPenalty = SamplingParameters.DEFAULT.repetitionPenalty();
    private double presencePenalty = SamplingParameters.DEFAULT.presencePenalty();
    private double frequencyPenalty = SamplingParameters.DEFAULT.frequencyPenalty();
    private int penaltyWindow = SamplingParameters.ALL_TOKENS;
    private boolean penalizesPrompt;
    private Map<Integer, Float> logitBias = Map.of();
    private OptionalLong seed = OptionalLong.empty();

    private int maxTokens = StopConditions.REST_OF_CONTEXT;
    private int minTokens = 0;
    private List<String> stopStrings = List.of();
    private Set<Integer> stopTokenIds = Set.of();
    private boolean ignoreEos = false;

    private OutputOptions output = OutputOptions.DEFAULT;
    private SchedulingOptions scheduling = SchedulingOptions.DEFAULT;
    private ResponseFormat format = ResponseFormat.TEXT;
    private String adapter = "";

    GenerationRequestBuilder() {}

    public GenerationRequestBuilder prompt(Prompt value) {
        prompt = value;
        return this;
    }

    /** Plain text with the special tokens that the model expects around it. */
    public GenerationRequestBuilder text(String value) {
        return prompt(new Prompt.Text(value, true, false));
    }

    public GenerationRequestBuilder tokens(int... ids) {
        return prompt(Prompt.Tokens.of(ids));
    }

    public GenerationRequestBuilder message(ChatMessage value) {
        messages.add(value);
        return this;
    }

    public GenerationRequestBuilder system(String content) {
        return message(ChatMessage.system(content));
    }

    public GenerationRequestBuilder user(String content) {
        return message(ChatMessage.user(content));
    }

    public GenerationRequestBuilder assistant(String content) {
        return message(ChatMessage.assistant(content));
    }

    /** A function that the model may call, in the JSON form of OpenAI's {@code tools}. */
    public GenerationRequestBuilder tool(Map<String, Object> value) {
        tools.add(value);
        return this;
    }

    /** Which of the tools may or must be called. */
    public GenerationRequestBuilder toolUse(ToolUse value) {
        toolUse = value;
        return this;
    }

    public GenerationRequestBuilder templateVariable(String name, Object value) {
        templateVariables.put(name, value);
        return this;
    }

    /** Every field of {@link SamplingParameters} at once. */
    public GenerationRequestBuilder sampling(SamplingParameters value) {
        temperature = value.temperature();
        topK = value.topK();
        topP = value.topP();
        minP = value.minP();
        typicalP = value.typicalP();
        repetitionPenalty = value.repetitionPenalty();
        presencePenalty = value.presencePenalty();
        frequencyPenalty = value.frequencyPenalty();
        penaltyWindow = value.penaltyWindow();
        penalizesPrompt = value.penalizesPrompt();
        logitBias = value.logitBias();
        seed = value.seed();
        return this;
    }

    public GenerationRequestBuilder temperature(double value) {
        temperature = value;
        return this;
    }

    public GenerationRequestBuilder topK(int value) {
        topK = value;
        return this;
    }

    public GenerationRequestBuilder topP(double value) {
        topP = value;
        return this;
    }

    public GenerationRequestBuilder minP(double value) {
        minP = value;
        return this;
    }

    public GenerationRequestBuilder typicalP(double value) {
        typicalP = value;
        return this;
    }

    public GenerationRequestBuilder repetitionPenalty(double value) {
        repetitionPenalty = value;
        return this;
    }

    public GenerationRequestBuilder presencePenalty(double value) {
        presencePenalty = value;
        return this;
    }

    public GenerationRequestBuilder frequencyPenalty(double value) {
        frequencyPenalty = value;
        return this;
    }

    /** How many of the latest tokens penalties see. */
    public GenerationRequestBuilder penaltyWindow(int value) {
        penaltyWindow = value;
        return this;
    }

    /** Whether the penalties for presence and frequency see the prompt, too. */
    public GenerationRequestBuilder penalizesPrompt(boolean value) {
        penalizesPrompt = value;
        return this;
    }

    public GenerationRequestBuilder logitBias(Map<Integer, Float> value) {
        logitBias = value;
        return this;
    }

    public GenerationRequestBuilder seed(long value) {
        seed = OptionalLong.of(value);
        return this;
    }

    public GenerationRequestBuilder maxTokens(int value) {
        maxTokens = value;
        return this;
    }

    public GenerationRequestBuilder minTokens(int value) {
        minTokens = value;
        return this;
    }

    public GenerationRequestBuilder stopStrings(List<String> value) {
        stopStrings = value;
        return this;
    }

    public GenerationRequestBuilder stopTokenIds(Set<Integer> value) {
        stopTokenIds = value;
        return this;
    }

    public GenerationRequestBuilder ignoreEos(boolean value) {
        ignoreEos = value;
        return this;
    }

    public GenerationRequestBuilder output(OutputOptions value) {
        output = value;
        return this;
    }

    public GenerationRequestBuilder choices(int value) {
        return output(new OutputOptions(value, output.logprobs(), output.topLogprobs(), output.promptLogprobs()));
    }

    /** Reports the chosen token's log-probability and those of the {@code top} likeliest tokens. */
    public GenerationRequestBuilder logprobs(int top) {
        return output(new OutputOptions(output.choices(), true, top, output.promptLogprobs()));
    }

    public GenerationRequestBuilder promptLogprobs(boolean value) {
        return output(new OutputOptions(output.choices(), output.logprobs(), output.topLogprobs(), value));
    }

    public GenerationRequestBuilder scheduling(SchedulingOptions value) {
        scheduling = value;
        return this;
    }

    public GenerationRequestBuilder priority(int value) {
        return scheduling(scheduling.withPriority(value));
    }

    public GenerationRequestBuilder deadline(Duration value) {
        return scheduling(scheduling.withDeadline(value));
    }

    /** How soon the first token is wanted: among those that wait, who is due earliest goes first. */
    public GenerationRequestBuilder firstTokenWithin(Duration value) {
        return scheduling(scheduling.withFirstTokenWithin(value));
    }

    /** Whose request it is: keys of equal priority get equal shares of the engine. */
    public GenerationRequestBuilder key(String value) {
        return scheduling(scheduling.withKey(value));
    }

    /** Only requests with the same salt share cached prefixes. */
    public GenerationRequestBuilder cacheSalt(String value) {
        return scheduling(scheduling.withCacheSalt(value));
    }

    /** What the answer must look like. */
    public GenerationRequestBuilder format(ResponseFormat value) {
        format = value;
        return this;
    }

    /** The adapter that writes the answer, by the name that it was loaded under. */
    public GenerationRequestBuilder adapter(String name) {
        adapter = name;
        return this;
    }

    /** Keeps the answer to a JSON schema. */
    public GenerationRequestBuilder jsonSchema(String schema) {
        return format(new ResponseFormat.JsonSchema(schema));
    }

    /** The request, checked. */
    public GenerationRequest build() {
        return new GenerationRequest(
                promptOrChat(),
                new SamplingParameters(
                        temperature,
                        topK,
                        topP,
                        minP,
                        typicalP,
                        repetitionPenalty,
                        presencePenalty,
                        frequencyPenalty,
                        logitBias,
                        penaltyWindow,
                        penalizesPrompt,
                        seed),
                new StopConditions(maxTokens, minTokens, stopStrings, stopTokenIds, ignoreEos),
                output,
                scheduling,
                format,
                adapter);
    }

    private Prompt promptOrChat() {
        if (prompt != null && !messages.isEmpty()) {
            throw new InvalidRequestException("a request has either a prompt or messages, not both");
        }
        return prompt != null ? prompt : new Prompt.Chat(messages, tools, templateVariables, toolUse);
    }
}
