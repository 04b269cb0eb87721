package roselle.spring;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.MessageAggregator;
import org.springframework.ai.chat.observation.ChatModelObservationContext;
import org.springframework.ai.chat.observation.ChatModelObservationConvention;
import org.springframework.ai.chat.observation.ChatModelObservationDocumentation;
import org.springframework.ai.chat.observation.DefaultChatModelObservationConvention;
import org.springframework.ai.chat.prompt.Prompt;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;

/**
 * A model in this process as Spring AI's chat model. Any number of threads may ask; their requests share the engine's batch. Tools are
 * called by Spring AI's advisors, as with every model.
 */
public final class RoselleChatModel implements ChatModel {
    private static final String PROVIDER = "roselle";
    private static final ChatModelObservationConvention CONVENTION = new DefaultChatModelObservationConvention();

    private final Engine engine;
    private final String name;
    private final RoselleChatOptions defaults;
    private final ObservationRegistry observations;
    private final ChatPrompts prompts;

    /**
     * A chat model of an engine, which stays its owner's.
     *
     * @param name what options and metadata call the model
     * @param defaults options of prompts that do not say otherwise
     */
    public RoselleChatModel(Engine engine, String name, RoselleChatOptions defaults, ObservationRegistry observations) {
        this.engine = engine;
        this.name = name;
        this.defaults =
                defaults.getModel() == null ? defaults.mutate().model(name).build() : defaults;
        this.observations = observations;
        prompts = new ChatPrompts(engine, name);
    }

    @Override
    public RoselleChatOptions getOptions() {
        return defaults;
    }

    /** The prompt with the options that hold for it: its own before the model's. */
    private Prompt withDefaults(Prompt prompt) {
        RoselleChatOptions options = prompt.getOptions() == null
                ? defaults
                : defaults.mutate()
                        .combineWith(ChatPrompts.known(prompt.getOptions()).mutate())
                        .build();
        return new Prompt(prompt.getInstructions(), options);
    }

    private Observation observation(ChatModelObservationContext context) {
        return ChatModelObservationDocumentation.CHAT_MODEL_OPERATION.observation(
                null, CONVENTION, () -> context, observations);
    }

    private static ChatModelObservationContext context(Prompt prompt, boolean isStream) {
        return ChatModelObservationContext.builder()
                .prompt(prompt)
                .provider(PROVIDER)
                .streaming(isStream)
                .build();
    }

    @Override
    public ChatResponse call(Prompt prompt) {
        Prompt asked = withDefaults(prompt);
        ChatModelObservationContext context = context(asked, false);
        return observation(context).observe(() -> {
            ChatResponse response = answer(asked);
            context.setResponse(response);
            return response;
        });
    }

    private ChatResponse answer(Prompt prompt) {
        var answer = new ChatAnswer(prompts.modelName(prompt));
        try (var generation = engine.submit(prompts.of(prompt))) {
            generation.awaitWhole();
            for (var event : generation) {
                answer.take(event);
            }
        }
        return answer.whole();
    }

    /** Pieces as they come, then one without text that has the calls, the reason and the usage. Cancelling ends the request. */
    @Override
    public Flux<ChatResponse> stream(Prompt prompt) {
        Prompt asked = withDefaults(prompt);
        GenerationRequest request = prompts.of(asked);
        return Flux.deferContextual(view -> {
            ChatModelObservationContext context = context(asked, true);
            Observation observation = observation(context)
                    .parentObservation(view.getOrDefault(ObservationThreadLocalAccessor.KEY, null))
                    .start();
            Flux<ChatResponse> pieces = Flux.<ChatResponse>create(
                            sink -> Thread.ofVirtual().name("roselle-spring").start(() -> tell(request, asked, sink)))
                    .doOnError(observation::error)
                    .doFinally(_ -> observation.stop())
                    .contextWrite(each -> each.put(ObservationThreadLocalAccessor.KEY, observation));
            return new MessageAggregator().aggregate(pieces, context::setResponse);
        });
    }

    private void tell(GenerationRequest request, Prompt prompt, FluxSink<ChatResponse> sink) {
        var answer = new ChatAnswer(prompts.modelName(prompt));
        try (var generation = engine.submit(request)) {
            sink.onDispose(generation::close);
            for (var event : generation) {
                answer.take(event);
                answer.piece(event).ifPresent(sink::next);
            }
            sink.next(answer.end());
            sink.complete();
        } catch (RuntimeException failure) {
            sink.error(failure);
        }
    }

    /** What options and metadata call the model. */
    public String modelName() {
        return name;
    }
}
