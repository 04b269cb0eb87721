package roselle.langchain4j;

import dev.langchain4j.exception.UnsupportedFeatureException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.request.ResponseFormat;
import dev.langchain4j.model.chat.request.ResponseFormatType;
import dev.langchain4j.model.chat.request.ToolChoice;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.LoadedAdapter;
import roselle.api.SamplingParameters;
import roselle.api.ToolUse;
import roselle.api.ToolUse.Choice;
import roselle.engine.Engine;

/** Requests of LangChain4j as those of an engine; what the engine cannot honour is refused by its name. */
final class ChatRequests {
    private final Engine engine;
    private final String name;

    ChatRequests(Engine engine, String name) {
        this.engine = engine;
        this.name = name;
    }

    /** What a request calls the model: its own name, or that of an adapter. */
    String modelName(ChatRequest request) {
        String asked = request.parameters().modelName();
        return asked == null ? name : asked;
    }

    /** Refuses parameters that no request could be made with. */
    void requireKnown(ChatRequestParameters parameters) {
        adapter(parameters.modelName());
        if (parameters instanceof RoselleChatRequestParameters ours) {
            requireThinking(ours.think());
        }
    }

    private String adapter(@Nullable String asked) {
        if (asked == null || asked.equals(name)) {
            return "";
        }
        if (engine.adapters().stream().map(LoadedAdapter::name).noneMatch(asked::equals)) {
            throw new UnsupportedFeatureException("modelName " + asked + " is not supported: the model is " + name
                    + ", and no adapter of that name is loaded");
        }
        return asked;
    }

    private void requireThinking(@Nullable Boolean think) {
        if (think != null && !engine.chatTemplateMentions("enable_thinking")) {
            throw new UnsupportedFeatureException(
                    "think is not supported by this model: its chat template does not know enable_thinking");
        }
    }

    GenerationRequest of(ChatRequest request) {
        ChatRequestParameters asked = request.parameters();
        GenerationRequestBuilder builder = GenerationRequest.builder()
                .sampling(engine.advisedSampling().orElse(SamplingParameters.DEFAULT))
                .adapter(adapter(asked.modelName()));
        try {
            request.messages().forEach(message -> builder.message(Messages.of(message)));
            common(asked, builder);
            boolean isParallel = true;
            if (asked instanceof RoselleChatRequestParameters ours) {
                own(ours, builder);
                isParallel = !Boolean.FALSE.equals(ours.parallelToolCalls());
            }
            tools(asked, isParallel, builder);
            format(asked.responseFormat(), builder);
            return builder.build();
        } catch (roselle.api.InvalidRequestException refused) {
            throw Failures.of(refused);
        }
    }

    private static <T> void ifAsked(@Nullable T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }

    private static void common(ChatRequestParameters asked, GenerationRequestBuilder builder) {
        ifAsked(asked.temperature(), builder::temperature);
        ifAsked(asked.topP(), builder::topP);
        ifAsked(asked.topK(), builder::topK);
        ifAsked(asked.frequencyPenalty(), builder::frequencyPenalty);
        ifAsked(asked.presencePenalty(), builder::presencePenalty);
        ifAsked(asked.maxOutputTokens(), builder::maxTokens);
        ifAsked(asked.stopSequences(), builder::stopStrings);
    }

    private void own(RoselleChatRequestParameters asked, GenerationRequestBuilder builder) {
        requireThinking(asked.think());
        ifAsked(asked.seed(), builder::seed);
        ifAsked(asked.minP(), builder::minP);
        ifAsked(asked.repetitionPenalty(), builder::repetitionPenalty);
        ifAsked(asked.think(), think -> builder.templateVariable("enable_thinking", think));
    }

    private void tools(ChatRequestParameters asked, boolean isParallel, GenerationRequestBuilder builder) {
        List<Map<String, Object>> tools =
                asked.toolSpecifications().stream().map(Schemas::tool).toList();
        if (!tools.isEmpty() && !engine.chatTemplateMentions("tools")) {
            throw new UnsupportedFeatureException(
                    "tools are not supported by this model: its chat template does not tell it of them");
        }
        tools.forEach(builder::tool);
        builder.toolUse(new ToolUse(choice(asked.toolChoice()), "", isParallel));
    }

    private static Choice choice(@Nullable ToolChoice asked) {
        return switch (asked) {
            case AUTO -> Choice.AUTO;
            case REQUIRED -> Choice.REQUIRED;
            case NONE -> Choice.NONE;
            case null -> Choice.AUTO;
        };
    }

    private static void format(@Nullable ResponseFormat asked, GenerationRequestBuilder builder) {
        if (asked == null || asked.type() == ResponseFormatType.TEXT) {
            return;
        }
        builder.format(
                asked.jsonSchema() == null
                        ? new roselle.api.ResponseFormat.JsonObject()
                        : new roselle.api.ResponseFormat.JsonSchema(Schemas.json(asked.jsonSchema())));
    }
}
