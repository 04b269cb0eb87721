package roselle.engine;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.api.DeviceException;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.LoadedAdapter;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
import roselle.api.ToolUse;
import roselle.api.type.TypeReference;
import roselle.backend.Device;
import roselle.backend.ModelWeights;
import roselle.batch.SamplingPlan;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.TokenConstraint;
import roselle.batch.Waiting;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.conversation.AnswerLead;
import roselle.conversation.ConversationFormat;
import roselle.engine.adapter.AdapterPool;
import roselle.engine.adapter.AdapterUse;
import roselle.engine.answer.Choice;
import roselle.engine.answer.EndTokens;
import roselle.engine.answer.NamedLogprobs;
import roselle.engine.prompt.ChatForms;
import roselle.engine.prompt.PromptEncoder;
import roselle.engine.request.ActiveRequest;
import roselle.engine.request.AnswerRoom;
import roselle.engine.request.TokenChannel;
import roselle.execution.Executor;
import roselle.kvcache.PageCache;
import roselle.kvcache.PrefixScope;
import roselle.model.architecture.Architectures;
import roselle.model.weights.Blueprint;
import roselle.scheduler.Scheduler;
import roselle.structured.CompiledFormats;
import roselle.structured.FormatMasks;
import roselle.structured.Rehearsal;
import roselle.structured.type.AnswerType;
import roselle.tokenizer.Tokenizer;
import roselle.work.LongWork;

/**
 * A loaded model that answers any number of requests at a time; thread-safe.
 *
 * {@snippet :
 * try (var engine = Engine.open(EngineConfig.of(Path.of("model.gguf")))) {
 *     var request = GenerationRequest.builder().user("Tell me a story about a fox.").maxTokens(200).build();
 *     try (var generation = engine.submit(request)) {
 *         for (var event : generation) {
 *             if (event instanceof GenerationEvent.TokenGenerated token) {
 *                 System.out.print(token.text());
 *             }
 *         }
 *     }
 * }
 * }
 *
 * <p>Requests from any number of threads share one batch and one prefix cache. {@link #close} fails what is in flight and
 * returns all memory.
 */
public final class Engine implements AutoCloseable {
    /** Ids that are decoded on the caller's thread. */
    private static final int FEW_IDS = 16 << 10;

    private final EngineConfig config;
    private final EngineSizes sizes;
    private final Checkpoint checkpoint;
    private final Tokenizer tokenizer;
    private final LongWork longWork;
    private final PromptEncoder encoder;
    private final Optional<SamplingParameters> advisedSampling;
    private final ChatForms forms;
    private final int[] endTokens;
    private final CompiledFormats responseFormats;
    private final int vocabulary;
    private final int longest;
    private final Executor executor;
    private final PageCache pages;
    private final EngineCache cache;
    private final EngineProbe probe;
    private final EngineLoop loop;
    private final StartTimeline timeline;
    private final AnswerRoom room;
    private final AdapterPool adapters;
    private final AtomicLong nextId = new AtomicLong();
    private boolean isClosed;

    Engine(EngineAssembly assembly, Checkpoint checkpoint, Blueprint blueprint, EngineSizes sizes, Executor executor) {
        config = assembly.config();
        this.sizes = sizes;
        this.checkpoint = checkpoint;
        vocabulary = blueprint.spec().vocabulary();
        ModelText text = assembly.reading(checkpoint).text(vocabulary);
        tokenizer = text.tokenizer();
        longWork = text.longWork();
        forms = text.forms();
        encoder = text.encoder();
        advisedSampling = ModelDefaults.of(checkpoint);
        endTokens = EndTokens.of(checkpoint, forms.own().withoutTools(), vocabulary);
        responseFormats = new CompiledFormats(tokenizer, vocabulary, endTokens);
        this.executor = executor;
        pages = new PageCache(sizes.layout(), System.nanoTime());
        var scheduler = new Scheduler(sizes.schedulerLimits(config.batch().maxQueue()), pages);
        room = new AnswerRoom(config.batch().maxQueue() + sizes.limits().maxSequences());
        longest = scheduler.longestSequence();
        probe = new EngineProbe(executor.device(), pages, sizes.pageBytes(), scheduler);
        var resizer = new CacheResizer(pages, executor, sizes);
        resizer.begin(assembly.firstCacheBytes(sizes));
        adapters = new AdapterPool(checkpoint, executor.adaptable(), executor.adaptingDevice(), config.adapterMemory());
        loop = assembly.loop(checkpoint, new LoopParts(scheduler, executor, resizer, probe));
        cache = new EngineCache(loop, executor);
        loop.start();
        timeline = assembly.finish(executor);
    }

    /**
     * Opens a model: plans the memory, maps the weights, allocates everything, and starts the engine's thread.
     *
     * @throws CheckpointException if the model cannot be read or is not supported
     * @throws CapacityException if it does not fit; the message has both numbers and the largest context that fits
     * @throws DeviceException if the device is not there
     */
    public static Engine open(EngineConfig config) {
        return open(config, StartObserver.NONE);
    }

    /** Opens a model; the observer hears what it will take before anything is loaded, and how loading gets on. */
    public static Engine open(EngineConfig config, StartObserver observer) {
        return new EngineAssembly(config, observer).open();
    }

    /** What {@link #open} would take, without loading anything; fails as it would. */
    public static EnginePlan plan(EngineConfig config) {
        try (Checkpoint checkpoint = Checkpoints.open(config.model());
                Device backend = Devices.open(
                        config.device(), ModelWeights.of(checkpoint.tensors().values()))) {
            var blueprint = Architectures.read(checkpoint);
            return EngineSizes.of(config, checkpoint, blueprint, backend, MachineMemory.bytes())
                    .plan();
        }
    }

    /**
     * Accepts a request, or refuses it at once; what is accepted ends in exactly one {@code Finished} or {@code Failed}.
     *
     * @throws InvalidRequestException if it cannot be honoured as it stands
     * @throws CapacityException if the queue is full
     * @throws DeviceException if the engine is closed or has failed
     */
    public Generation submit(GenerationRequest request) {
        return submit(request, false);
    }

    /**
     * Accepts a request whose answer is a value of a class: a record as a rule; see {@link AnswerType}.
     *
     * {@snippet :
     * record Animal(String name, @Range(min = 0, max = 8) int legs) {}
     *
     * Animal animal = engine.submit(request, Animal.class).value();
     * }
     *
     * @throws InvalidRequestException if no answer can be of it; the message begins with the place, as in
     *     {@code Invoice.lines[].price}; and as {@link #submit(GenerationRequest)} does
     */
    public <T> TypedGeneration<T> submit(GenerationRequest request, Class<T> type) {
        return submit(request, AnswerType.of(type));
    }

    /** The same for a type with arguments: {@code new TypeReference<List<Animal>>() {}}. */
    public <T> TypedGeneration<T> submit(GenerationRequest request, TypeReference<T> type) {
        return submit(request, AnswerType.of(type));
    }

    /** The same for a type that was found out before. */
    public <T> TypedGeneration<T> submit(GenerationRequest request, AnswerType<T> type) {
        return new TypedGeneration<>(submit(TypedGeneration.held(request, type)), type);
    }

    /**
     * Accepts a text whose vector is wanted; it waits in the same queue and runs in the same batch as what is generated.
     *
     * @throws InvalidRequestException if the text has no tokens or does not fit into the context
     * @throws CapacityException if the queue is full
     * @throws DeviceException if the engine is closed or has failed
     */
    public Embedding embed(Prompt text, SchedulingOptions scheduling) {
        return embed(text, scheduling, "");
    }

    /** The same with the name of a loaded adapter, or an empty one. */
    public Embedding embed(Prompt text, SchedulingOptions scheduling, String adapter) {
        var once = GenerationRequest.builder()
                .prompt(text)
                .maxTokens(1)
                .scheduling(scheduling)
                .adapter(adapter);
        return new Embedding(submit(once.build(), true));
    }

    /**
     * Refuses what {@link #submit} would refuse of a format; what it takes to find that out is kept for requests that follow.
     *
     * @throws InvalidRequestException if answers cannot be held to it
     */
    public void requireKeepable(ResponseFormat format) {
        if (!(format instanceof ResponseFormat.Text)) {
            masks(format);
        }
    }

    private FormatMasks masks(ResponseFormat format) {
        if (!checkpoint.hasTokenizer()) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    "response_format",
                    "the model has no tokenizer, so its answers can be any tokens");
        }
        return responseFormats.compile(format);
    }

    private Generation submit(GenerationRequest request, boolean embeds) {
        long submitted = System.nanoTime();
        requireAlive();
        cache.requireAwake();
        if (request.prompt() instanceof Prompt.Chat chat) {
            requireCallable(chat, request.format());
        }
        int choices = request.output().choices();
        String key = request.scheduling().key();
        room.take(key, choices);
        AdapterUse use = null;
        try {
            int[] prompt = known(encoder.encode(request.prompt(), key, longest));
            int maxLength = maxLength(prompt.length, request.stop());
            use = request.adapter().isEmpty() ? null : adapters.use(request.adapter());
            Waiting[] sequences = sequences(request, embeds, prompt, maxLength, submitted, use);
            var channel = new TokenChannel();
            var active = active(sequences, channel, submitted, key, use);
            var generation = new Generation(
                    channel,
                    new NamedLogprobs(tokenizer),
                    prompt,
                    Choice.of(request, prompt, tokenizer, format(request.prompt())),
                    choice -> loop.post(new EngineLoop.Command.Cancel(active, choice)));
            loop.post(new EngineLoop.Command.Submit(active));
            loop.refuseIfDead();
            return generation;
        } catch (Throwable failure) {
            room.giveBack(key, choices);
            if (use != null) {
                use.end();
            }
            throw failure;
        }
    }

    /** The request for the engine's thread; what it holds is given back at its end. */
    private ActiveRequest active(
            Waiting[] sequences, TokenChannel channel, long submitted, String key, @Nullable AdapterUse use) {
        if (use == null) {
            return new ActiveRequest(sequences, channel, submitted, () -> room.giveBack(key, sequences.length));
        }
        return new ActiveRequest(sequences, channel, submitted, use::begins, () -> {
            room.giveBack(key, sequences.length);
            use.end();
        });
    }

    /**
     * Loads an adapter (LoRA) of the model, a folder as PEFT writes it or a GGUF file; requests name it from then on, and requests of
     * any adapters run in one batch. Where the same is loaded already, nothing changes.
     *
     * @param name what {@link GenerationRequest#adapter} calls it
     * @throws InvalidRequestException if the name is that of another adapter
     * @throws CheckpointException if it cannot be read, or is not of this model
     * @throws CapacityException if it does not fit
     */
    public LoadedAdapter loadAdapter(String name, Path path) {
        requireAlive();
        return adapters.load(name, path);
    }

    /**
     * Forgets an adapter; requests that use it go on to their ends.
     *
     * @throws InvalidRequestException if there is none of the name
     */
    public void unloadAdapter(String name) {
        adapters.unload(name);
    }

    /**
     * Tells which pages later prompts can find and which they cannot any more, from now on; whoever asked before hears nothing
     * more. {@code capacity} events wait for their reader.
     */
    public PageReports pageReports(int capacity) {
        return new PageReports(pages.events(capacity), pages.layout().pageTokens());
    }

    /** The adapters that requests may name. */
    public List<LoadedAdapter> adapters() {
        return adapters.all();
    }

    /** Adapters that a step may have: one for each answer, or none where the device takes none. */
    public int maxAdapters() {
        return executor.adaptingDevice().takesAdapters() ? sizes.limits().maxSequences() : 0;
    }

    /** Names of adapters of requests that have a token already, or, on the contrary, have none yet. */
    public Set<String> adaptersInUse(boolean begun) {
        return adapters.inUse(begun);
    }

    private void requireCallable(Prompt.Chat chat, ResponseFormat format) {
        if (chat.toolUse().choice() == ToolUse.Choice.NONE) {
            return;
        }
        ToolCalls.require(chat, format);
        if (!chat.tools().isEmpty() && !forms.of(chat).withTools().canCall()) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    "tools",
                    "tools are given, but how this model calls them is not known from its chat template: name its format"
                            + " with --tool-parser, or leave them out");
        }
    }

    /**
     * Tools of which those that leave {@code strict} out are strict if this model's calls of them can be held to their schemas, and not
     * otherwise. No tool that says whether it is strict is changed.
     */
    public List<Map<String, Object>> strictWherePossible(List<Map<String, Object>> tools) {
        return tools.isEmpty()
                ? tools
                : ToolCalls.strictWherePossible(tools, forms.own().withTools(), responseFormats);
    }

    private ConversationFormat format(Prompt prompt) {
        return forms.of(prompt).format(prompt);
    }

    private void requireAlive() {
        String death = loop.death();
        if (death != null) {
            throw new DeviceException(death);
        }
    }

    /** The answers that can be generated and wait at a time: one request with more can never be taken. */
    public int maxAnswers() {
        return room.most();
    }

    /** The prompt, when the model has a row for each of its ids: tokenizers may have more tokens than that. */
    private int[] known(int[] prompt) {
        for (int id : prompt) {
            if (id < 0 || id >= vocabulary) {
                throw new InvalidRequestException(
                        Reason.OUT_OF_RANGE,
                        "",
                        "the prompt has token id " + id
                                + ", which its tokenizer knows but the model does not: its tokens are 0 to "
                                + (vocabulary - 1));
            }
        }
        return prompt;
    }

    private int maxLength(int promptTokens, StopConditions stop) {
        if (promptTokens == 0) {
            throw new InvalidRequestException("the prompt has no tokens: it must have at least one");
        }
        if (promptTokens >= longest) {
            throw new InvalidRequestException(
                    Reason.CONTEXT_LENGTH,
                    "",
                    "the prompt has " + promptTokens + " tokens, but the context holds " + longest
                            + " with at least one generated: shorten it");
        }
        if (stop.maxTokens() == StopConditions.REST_OF_CONTEXT) {
            return longest;
        }
        long length = (long) promptTokens + stop.maxTokens();
        if (length > longest) {
            throw new InvalidRequestException(
                    Reason.CONTEXT_LENGTH,
                    "",
                    "the prompt has " + promptTokens + " tokens and max_tokens is " + stop.maxTokens() + ": together "
                            + length + ", but the context holds " + longest);
        }
        return (int) length;
    }

    private Waiting[] sequences(
            GenerationRequest request,
            boolean embeds,
            int[] prompt,
            int maxLength,
            long submitted,
            @Nullable AdapterUse use) {
        long seed = request.sampling().seed().orElseGet(() -> Seeds.spread(nextId.get() ^ submitted));
        var scheduling = scheduling(request, submitted, use == null ? "" : use.digest());
        var constraints = constraints(request, prompt);
        var sequences = new Waiting[request.output().choices()];
        for (int choice = 0; choice < sequences.length; choice++) {
            var sampling = embeds
                    ? SamplingPlan.embedding(request, vocabulary)
                    : SamplingPlan.of(request, endTokens, vocabulary, seed, choice);
            sequences[choice] = Sequence.begin(
                    nextId.getAndIncrement(),
                    prompt,
                    maxLength,
                    sampling,
                    scheduling,
                    constraints.get(),
                    use == null ? null : use.adapter());
        }
        return sequences;
    }

    /** What holds each answer to the request's format. */
    private Supplier<TokenConstraint> constraints(GenerationRequest request, int[] prompt) {
        if (request.prompt() instanceof Prompt.Chat chat && ToolCalls.areHeld(chat, request.format())) {
            ConversationFormat conversation = forms.of(chat).withTools();
            FormatMasks masks = responseFormats.compileCalls(ToolCalls.held(chat, request.format(), conversation));
            AnswerLead lead = conversation.callLead(tokenizer, prompt);
            return () -> masks.begin(prompt.length, lead);
        }
        if (request.format() instanceof ResponseFormat.Text) {
            return () -> TokenConstraint.NONE;
        }
        FormatMasks masks = masks(request.format());
        boolean isChat = request.prompt() instanceof Prompt.Chat;
        AnswerLead lead = isChat ? format(request.prompt()).lead(tokenizer, prompt) : AnswerLead.none(tokenizer);
        return () -> masks.begin(prompt.length, lead);
    }

    private Scheduling scheduling(GenerationRequest request, long submitted, String adapter) {
        var scheduling = request.scheduling();
        String salt = config.cache().prefixCache()
                ? scheduling.cacheSalt()
                : scheduling.cacheSalt() + '\0' + nextId.getAndIncrement();
        long deadline = scheduling.deadline().isZero()
                ? Scheduling.NO_DEADLINE
                : submitted + scheduling.deadline().toNanos();
        var scope = new PrefixScope(config.cache().sharesAcrossKeys() ? "" : scheduling.key(), salt, adapter);
        long patience = scheduling.firstTokenWithin().isZero()
                ? Scheduling.USUAL_PATIENCE_NANOS
                : scheduling.firstTokenWithin().toNanos();
        return new Scheduling(
                scope, scheduling.priority(), scheduling.key(), submitted, deadline, submitted + patience);
    }

    /** What this engine takes of the machine. */
    public EnginePlan plan() {
        return sizes.plan();
    }

    /** What the model's files say of it. */
    public ModelFacts facts() {
        return ModelFacts.of(checkpoint);
    }

    /** Where the time of its start went. */
    public StartTimeline timeline() {
        return timeline;
    }

    public Tokenizer tokenizer() {
        return tokenizer;
    }

    /** The ids that a request with this prompt would begin with; nothing is generated. */
    public int[] tokenize(Prompt prompt) {
        return tokenize(prompt, "");
    }

    /** The same for a key, among whose other work it has its turn, where the prompt is long. */
    public int[] tokenize(Prompt prompt, String key) {
        return encoder.encode(prompt, key, PromptEncoder.ANY);
    }

    /**
     * Does a key's work that takes long when it is its turn, among the encoding of long prompts, with which it shares threads and
     * memory; returns what it returns or throws what it throws.
     *
     * @param characters that it works on
     */
    public <T> T inTurn(String key, long characters, Supplier<T> work) {
        return longWork.run(key, characters, _ -> work.get());
    }

    /** The text of a key's ids, which has its turn among the key's other work, where there are many. */
    public String detokenize(int[] ids, String key) {
        return ids.length <= FEW_IDS
                ? tokenizer.decode(ids, false)
                : inTurn(key, ids.length, () -> tokenizer.decode(ids, false));
    }

    /** Whether the model comes with a chat template, so that it takes messages. */
    public boolean hasChatTemplate() {
        return forms.own().template().isPresent();
    }

    /** The name of the format in which the model calls tools; {@code none} where it is not known. */
    public String toolParser() {
        return toolParser("");
    }

    /** The same of a template in Go's language in the place of the model's own; of that where it is empty. */
    public String toolParser(String template) {
        return forms.of(template).withTools().toolParser();
    }

    /** Whether the chat template mentions a variable of this name, so that setting it may change something. */
    public boolean chatTemplateMentions(String variable) {
        return chatTemplateMentions("", variable);
    }

    /**
     * The same of a template in Go's language in the place of the model's own; of that where it is empty.
     *
     * @throws InvalidRequestException if it cannot be read
     */
    public boolean chatTemplateMentions(String template, String variable) {
        return forms.of(template).mentions(variable);
    }

    /** How the model's makers advise to draw its tokens; empty where they say nothing. */
    public Optional<SamplingParameters> advisedSampling() {
        return advisedSampling;
    }

    /** Tokens of the longest prompt and answer together. */
    public int context() {
        return longest;
    }

    /** How the token is spelled with which a text begins, as the model's files name it; empty where they name none. */
    public String beginToken() {
        return encoder.beginToken();
    }

    /** The tokens with which the model ends an answer. */
    public List<Integer> endTokens() {
        return java.util.Arrays.stream(endTokens).boxed().toList();
    }

    /** Does now, in about a second of a thread's time, what a first request with a response format would wait for; never needed. */
    public void prepareResponseFormats() {
        if (checkpoint.hasTokenizer()) {
            responseFormats.rehearse();
            var _ = constraints(Rehearsal.REQUEST, new int[0]).get();
        }
    }

    /** How much memory keys and values take, which may change while the engine runs. */
    public EngineCache cache() {
        return cache;
    }

    /** What the engine is doing. */
    public EngineStatus status() {
        return probe.status(loop.death());
    }

    /** Fails what is in flight, ends the engine's thread and returns all memory. */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        loop.close();
        executor.close();
        checkpoint.close();
    }
}
