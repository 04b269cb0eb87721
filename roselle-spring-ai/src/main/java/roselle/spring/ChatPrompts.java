package roselle.spring;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.DefaultChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.DefaultStructuredOutputChatOptions;
import org.springframework.ai.model.tool.DefaultToolCallingChatOptions;
import org.springframework.ai.tool.definition.ToolDefinition;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.LoadedAdapter;
import roselle.api.SamplingParameters;
import roselle.engine.Engine;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Prompts of Spring AI as requests of an engine; what the engine cannot honour is refused by its name. */
final class ChatPrompts {
    private static final TypeReference<LinkedHashMap<String, Object>> OBJECT = new TypeReference<>() {};
    private static final Set<Class<?>> KNOWN = Set.of(
            DefaultChatOptions.class,
            DefaultToolCallingChatOptions.class,
            DefaultStructuredOutputChatOptions.class,
            RoselleChatOptions.class);

    private final Engine engine;
    private final String name;

    ChatPrompts(Engine engine, String name) {
        this.engine = engine;
        this.name = name;
    }

    /** Options all of which are honoured: those of another model's class may have some that are not. */
    static ChatOptions known(ChatOptions options) {
        if (!KNOWN.contains(options.getClass())) {
            throw unsupported(
                    "options",
                    options.getClass().getName()
                            + " may have options that Roselle does not support: use RoselleChatOptions, or Spring AI's own");
        }
        return options;
    }

    private static InvalidRequestException unsupported(String field, String message) {
        return new InvalidRequestException(Reason.UNSUPPORTED, field, message);
    }

    /** What a prompt calls the model: its own name, or that of an adapter. */
    String modelName(Prompt prompt) {
        ChatOptions options = prompt.getOptions();
        return options == null || options.getModel() == null ? name : options.getModel();
    }

    private String adapter(String asked) {
        if (asked.equals(name)) {
            return "";
        }
        if (engine.adapters().stream().map(LoadedAdapter::name).noneMatch(asked::equals)) {
            throw unsupported(
                    "model", "model is " + asked + ": it is " + name + ", and no adapter of that name is loaded");
        }
        return asked;
    }

    GenerationRequest of(Prompt prompt) {
        GenerationRequestBuilder builder = GenerationRequest.builder()
                .sampling(engine.advisedSampling().orElse(SamplingParameters.DEFAULT))
                .adapter(adapter(modelName(prompt)));
        prompt.getInstructions().stream().flatMap(ChatPrompts::messages).forEach(builder::message);
        if (prompt.getOptions() instanceof RoselleChatOptions options) {
            options(options, builder);
        }
        return builder.build();
    }

    private static <T> void ifAsked(@Nullable T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }

    private void options(RoselleChatOptions options, GenerationRequestBuilder builder) {
        ifAsked(options.getTemperature(), builder::temperature);
        ifAsked(options.getTopP(), builder::topP);
        ifAsked(options.getTopK(), builder::topK);
        ifAsked(options.getFrequencyPenalty(), builder::frequencyPenalty);
        ifAsked(options.getPresencePenalty(), builder::presencePenalty);
        ifAsked(options.getMaxTokens(), builder::maxTokens);
        ifAsked(options.getStopSequences(), builder::stopStrings);
        ifAsked(options.getSeed(), builder::seed);
        ifAsked(options.getOutputSchema(), builder::jsonSchema);
        ifAsked(
                options.getToolCallbacks(),
                callbacks -> callbacks.stream()
                        .map(callback -> tool(callback.getToolDefinition()))
                        .forEach(builder::tool));
    }

    /** A tool in the JSON form of OpenAI's API, which chat templates print. */
    private Map<String, Object> tool(ToolDefinition definition) {
        if (!engine.chatTemplateMentions("tools")) {
            throw unsupported(
                    "tools", "tools are not supported by this model: its chat template does not tell it of them");
        }
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", definition.name());
        function.put("description", definition.description());
        function.put("parameters", JsonMapper.shared().readValue(definition.inputSchema(), OBJECT));
        Map<String, Object> tool = new LinkedHashMap<>();
        tool.put("type", "function");
        tool.put("function", function);
        return tool;
    }

    private static Stream<ChatMessage> messages(Message message) {
        return switch (message) {
            case UserMessage user
            when !user.getMedia().isEmpty() ->
                throw unsupported("media", "a user message has media, which are not supported: only text is");
            case UserMessage user -> Stream.of(ChatMessage.user(text(user)));
            case SystemMessage system -> Stream.of(ChatMessage.system(text(system)));
            case AssistantMessage assistant -> Stream.of(assistant(assistant));
            case ToolResponseMessage results -> results.getResponses().stream().map(ChatPrompts::result);
            default ->
                throw unsupported(
                        "messages", "messages of " + message.getClass().getName() + " are not supported");
        };
    }

    private static String text(Message message) {
        String text = message.getText();
        return text == null ? "" : text;
    }

    private static ChatMessage assistant(AssistantMessage message) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("content", text(message));
        List<Map<String, Object>> calls = new ArrayList<>();
        for (AssistantMessage.ToolCall call : message.getToolCalls()) {
            Map<String, Object> function = new LinkedHashMap<>();
            function.put("name", call.name());
            function.put("arguments", arguments(call.arguments()));
            calls.add(Map.of("id", call.id(), "type", "function", "function", function));
        }
        if (!calls.isEmpty()) {
            fields.put("tool_calls", calls);
        }
        return new ChatMessage("assistant", fields);
    }

    /** An object, which is how templates read arguments, or the text of what is none because the answer was cut. */
    private static Object arguments(String json) {
        try {
            return JsonMapper.shared().readValue(json, OBJECT);
        } catch (JacksonException _) {
            return json;
        }
    }

    private static ChatMessage result(ToolResponseMessage.ToolResponse result) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("content", result.responseData());
        fields.put("tool_call_id", result.id());
        fields.put("name", result.name());
        return new ChatMessage("tool", fields);
    }
}
