package roselle.embedding;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.backend.Device;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.engine.Devices;
import roselle.engine.ModelFacts;
import roselle.model.spec.TaskSpec;
import roselle.tokenizer.TokenPair;

/**
 * Turns texts into vectors, and pairs of texts into scores, with an encoder: open, embed, close.
 *
 * <p>Any thread may ask, and waits for its answer; texts of many callers share steps. What a text gives does not depend on what else is
 * computed with it.
 */
public final class EmbeddingEngine implements AutoCloseable {
    private final Checkpoint checkpoint;
    private final Device device;
    private final EncoderModel model;
    private final SentenceFolder folder;
    private final Matryoshka matryoshka;
    private final TextReader reader;
    private final StepLimits limits;
    private final int maxWaiting;
    private final EmbeddingPlan plan;
    private final EncodingLoop loop;
    private final Thread thread;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private EmbeddingEngine(Checkpoint checkpoint, Device device, EncoderModel model, EncoderSizes sizes) {
        this.checkpoint = checkpoint;
        this.device = device;
        this.model = model;
        folder = sizes.folder();
        limits = sizes.limits();
        maxWaiting = sizes.maxWaiting();
        plan = sizes.plan();
        matryoshka = Matryoshka.of(checkpoint.config());
        reader = new TextReader(checkpoint, limits.maxContext());
        loop = new EncodingLoop(model, folder.output(), limits);
        thread = new Thread(loop, "roselle-embedding");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Opens an encoder, or a decoder as one.
     *
     * @throws roselle.api.CheckpointException if the model cannot be read
     * @throws roselle.api.DeviceException if the device is not there or runs no encoders
     * @throws CapacityException if it does not fit into memory
     */
    public static EmbeddingEngine open(EmbeddingConfig config) {
        return open(config, EmbeddingPlan.Observer.NONE);
    }

    /** The same, with somebody who hears what it will take before anything is loaded, and how loading gets on. */
    public static EmbeddingEngine open(EmbeddingConfig config, EmbeddingPlan.Observer observer) {
        Checkpoint checkpoint = Checkpoints.open(config.model());
        try {
            Device device = Devices.open(config.device(), Encoders.weights(checkpoint));
            try {
                return open(EncoderSizes.of(config, checkpoint, device), checkpoint, device, observer);
            } catch (Throwable failure) {
                device.close();
                throw failure;
            }
        } catch (Throwable failure) {
            checkpoint.close();
            throw failure;
        }
    }

    /** What {@link #open} would take, without loading anything; fails as it would. */
    public static EmbeddingPlan plan(EmbeddingConfig config) {
        try (Checkpoint checkpoint = Checkpoints.open(config.model());
                Device device = Devices.open(config.device(), Encoders.weights(checkpoint))) {
            return EncoderSizes.of(config, checkpoint, device).plan();
        }
    }

    /** On a device that is open, and the engine's from then on. */
    static EmbeddingEngine open(
            EncoderSizes sizes, Checkpoint checkpoint, Device device, EmbeddingPlan.Observer observer) {
        EmbeddingPlan plan = sizes.plan();
        observer.planned(plan);
        var loaded = new AtomicLong();
        EncoderModel model = EncoderModel.open(
                checkpoint,
                sizes.blueprint(),
                device,
                sizes.limits(),
                bytes -> observer.loaded(Math.min(plan.weightBytes(), loaded.addAndGet(bytes)), plan.weightBytes()));
        try {
            checkpoint.checkFiles();
            return new EmbeddingEngine(checkpoint, device, model, sizes);
        } catch (Throwable failure) {
            model.close();
            throw failure;
        }
    }

    /** The vectors of texts. */
    public TextResults embed(List<String> texts, EmbeddingOptions options) {
        return submit(texts.stream().map(text -> read(text, options)).toList(), options, "")
                .await();
    }

    /** The vectors of texts with every default. */
    public List<float[]> embed(List<String> texts) {
        return embed(texts, EmbeddingOptions.DEFAULT).vectors();
    }

    /** The sparse vectors of texts, of a model that {@linkplain #givesSparse gives them}. */
    public List<SparseVector> embedSparse(List<String> texts, EmbeddingOptions options) {
        return embed(texts, options.withSparse(true)).vectors().stream()
                .map(SparseVector::of)
                .toList();
    }

    /** The vectors of texts that are token ids already, with the tokens around them. */
    public TextResults embedIds(List<int[]> texts, EmbeddingOptions options) {
        return submit(texts.stream().map(EncoderInput::of).toList(), options, "")
                .await();
    }

    /** The logits of a classifier for texts, or the vectors, each beside a first text. */
    public TextResults score(String first, List<String> texts, EmbeddingOptions options) {
        return submit(texts.stream().map(text -> readPair(first, text, options)).toList(), options, "")
                .await();
    }

    /** A text's token ids with those around them, behind the prompt that the options name. */
    public EncoderInput read(String text, EmbeddingOptions options) {
        return EncoderInput.of(reader.ids(prompt(options) + text, options.truncate()));
    }

    /** The token ids of two texts in one, as cross-encoders take them, or the prompt of a decoder that ranks. */
    public EncoderInput readPair(String first, String second, EmbeddingOptions options) {
        if (folder.pairs() != null) {
            return EncoderInput.of(
                    reader.prompt(folder.pairs().parts(instruction(options)), first, second, options.truncate()));
        }
        if (options.instruction() != null) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    "instruction",
                    "an instruction is given, but the model takes a query and a text alone");
        }
        TokenPair pair = reader.pair(first, second, options.truncate());
        boolean isTyped = model.spec().input().types() > 1;
        return new EncoderInput(pair.ids(), isTyped ? pair.types() : new int[pair.ids().length]);
    }

    /**
     * Gives texts to the engine, for a caller that waits for what they give or takes them back.
     *
     * @param group whose texts they are: groups take turns; empty for nobody's
     */
    public PendingTexts submit(List<EncoderInput> inputs, EmbeddingOptions options, String group) {
        EncoderOutput output = output(options);
        int dimensions = dimensions(options);
        Encoders.require(inputs, model.spec());
        int task = TaskAdapters.number(options.task(), model.spec());
        int tokens = 0;
        for (EncoderInput input : inputs) {
            if (input.length() == 0) {
                throw new InvalidRequestException(Reason.OUT_OF_RANGE, "", "a text has no tokens: leave it out");
            }
            reader.requireLength(input.length());
            tokens += input.length();
        }
        var request = new TextRequest(
                inputs.stream().map(input -> input.forTask(task)).toList(),
                output,
                options.deadline().toNanos(),
                group);
        if (inputs.isEmpty()) {
            request.future.complete(List.of());
        } else {
            loop.post(request, maxWaiting);
        }
        return new PendingTexts(
                request.future,
                tokens,
                vectors -> options.sparse()
                        ? pairs(inputs, output, vectors)
                        : dimensions == width() ? vectors : shortened(vectors, dimensions));
    }

    /** What becomes of texts for who asks so. */
    private EncoderOutput output(EmbeddingOptions options) {
        if (!options.sparse()) {
            if (folder.output().isOfVocabulary()) {
                throw new InvalidRequestException(
                        Reason.UNSUPPORTED, "", "the model's vectors are sparse: ask for sparse ones");
            }
            return folder.output();
        }
        if (folder.sparse() == null) {
            throw new InvalidRequestException(Reason.UNSUPPORTED, "", sparseAbsence());
        }
        if (options.dimensions() != 0) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED, "dimensions", "dimensions is given, but sparse vectors cannot be cut");
        }
        return folder.sparse();
    }

    private List<float[]> pairs(List<EncoderInput> inputs, EncoderOutput output, List<float[]> results) {
        if (output.isOfVocabulary()) {
            return results; // which are kept so
        }
        var pairs = new ArrayList<float[]>(results.size());
        for (int i = 0; i < results.size(); i++) {
            pairs.add(SparsePairs.of(inputs.get(i), results.get(i), checkpoint.tokenizer()::isSpecial));
        }
        return pairs;
    }

    private List<float[]> shortened(List<float[]> vectors, int dimensions) {
        List<OutputStep> steps = folder.output().steps();
        boolean normalises = !steps.isEmpty() && steps.getLast() instanceof OutputStep.UnitLength;
        var cut = new ArrayList<float[]>(vectors.size());
        for (float[] vector : vectors) {
            float[] begin = Arrays.copyOf(vector, dimensions);
            cut.add(normalises ? new OutputStep.UnitLength().apply(begin) : begin);
        }
        return cut;
    }

    private int dimensions(EmbeddingOptions options) {
        if (options.dimensions() > width()) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    "dimensions",
                    "dimensions is " + options.dimensions() + ": the model's vectors have " + width());
        }
        return options.dimensions() == 0 ? width() : options.dimensions();
    }

    /** What a ranking is for: as the options say, else the model's default prompt, else nothing. */
    private @Nullable String instruction(EmbeddingOptions options) {
        if (options.instruction() != null) {
            return options.instruction();
        }
        String prompt = prompt(options);
        return prompt.isEmpty() ? null : prompt;
    }

    private String prompt(EmbeddingOptions options) {
        if (options.task() != null && options.prompt() == null) {
            TaskAdapters.number(options.task(), model.spec()); // which refuses others
            return TaskAdapters.instruction(checkpoint, options.task());
        }
        String name = options.prompt() == null ? folder.defaultPrompt() : options.prompt();
        String prompt = name.isEmpty() ? "" : folder.prompts().get(name);
        if (prompt == null) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    "prompt_name",
                    "the prompt is " + name + ": the model's are "
                            + String.join(", ", folder.prompts().keySet()));
        }
        return prompt;
    }

    /** Numbers of a vector, or labels of a classifier. */
    public int width() {
        return folder.output().width(model.width());
    }

    /** What a classifier's logits stand for; empty where results are embeddings. */
    public List<String> labels() {
        return folder.output().labels();
    }

    /** Whether each token of a text has logits: then a text's are {@code [tokens, labels]}, one token's behind the other's. */
    public boolean isTokenClassifier() {
        return folder.output().isClassifier() && folder.output().isOfTokens();
    }

    /** Texts that may go before others, by name. */
    public Map<String, String> prompts() {
        return folder.prompts();
    }

    /** Whether texts give sparse vectors ({@link EmbeddingOptions#sparse}). */
    public boolean givesSparse() {
        return folder.sparse() != null;
    }

    /** Whether texts give vectors all of whose numbers count, or scores. */
    public boolean givesDense() {
        return !folder.output().isOfVocabulary();
    }

    /** Why there are no sparse vectors, where the model gives none. */
    public String sparseAbsence() {
        return SparsePairs.absence(checkpoint.source());
    }

    /** What vectors may be for, by name ({@link EmbeddingOptions#task}); empty where the model makes no difference. */
    public List<String> tasks() {
        TaskSpec tasks = model.spec().input().tasks();
        return tasks == null ? List.of() : tasks.names();
    }

    /** Which beginnings of its vectors are good vectors, too. */
    public Matryoshka matryoshka() {
        return matryoshka;
    }

    /** Bytes of the model's tensors, as their files have them. */
    public long weightBytes() {
        return plan.weightBytes();
    }

    /** Bytes of memory that it takes, with those of its steps. */
    public long totalBytes() {
        return plan.totalBytes();
    }

    /** Tokens of the longest text. */
    public int context() {
        return limits.maxContext();
    }

    /** The model's family. */
    public String architecture() {
        return model.spec().architecture();
    }

    /** What runs it, and how. */
    public String device() {
        return device.describe();
    }

    /** What the model's files say of it. */
    public ModelFacts facts() {
        return ModelFacts.of(checkpoint);
    }

    public EmbeddingStatus status() {
        return loop.status();
    }

    /** Ends behind the step that is being computed; requests that wait fail. */
    @Override
    public void close() {
        if (isClosed.getAndSet(true)) {
            return;
        }
        loop.close();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        device.close();
        model.close();
        checkpoint.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
