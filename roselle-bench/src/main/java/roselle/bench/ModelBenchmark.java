package roselle.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.backend.ModelWeights;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.operation.Operations;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.backend.step.StepProgram;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.engine.Devices;
import roselle.execution.OwnPages;
import roselle.model.Decoder;
import roselle.model.KvPages;
import roselle.model.adapter.AdapterFiles;
import roselle.model.architecture.Architectures;
import roselle.model.weights.Blueprint;
import roselle.tensor.Tensor;

/**
 * How fast a decoder reads prompts and writes tokens, without tokenizer, scheduler and sampling.
 *
 * <p>A test is warmed up once and then repeated; each repetition begins with an empty cache.
 */
public final class ModelBenchmark {
    private static final int PAGE_TOKENS = 16;

    /**
     * What to measure.
     *
     * @param promptTokens read at once by one sequence; 0 to leave that out
     * @param newTokens written by each sequence of a batch; 0 to leave that out
     * @param batches numbers of sequences that write together
     * @param context tokens that each sequence has before it writes; they are not computed, and their values are zeros
     * @param device {@code cpu}, or another one, whose steps have no profile
     * @param threads of the CPU; 0 for as many as a model is worth
     * @param cpu path of its products
     * @param compute what they round their factors to
     * @param repetitions of each test
     */
    public record Plan(
            int promptTokens,
            int newTokens,
            List<Integer> batches,
            int context,
            String device,
            int threads,
            String cpu,
            String compute,
            int repetitions) {
        public Plan {
            batches = List.copyOf(batches);
            requireBetween("--prompt-tokens", promptTokens, 0, MAX_TOKENS);
            requireBetween("--new-tokens", newTokens, 0, MAX_TOKENS);
            requireBetween("--context", context, 0, MAX_TOKENS);
            requireBetween("--repetitions", repetitions, 1, MAX_REPETITIONS);
            batches.forEach(batch -> requireBetween("--batch", batch, 1, MAX_BATCH));
            new DeviceOptions(device, threads, cpu, compute); // which judges them
        }

        private static void requireBetween(String name, int value, int least, int most) {
            if (value < least || value > most) {
                throw new InvalidRequestException(
                        name + " is " + value + ": it must be between " + least + " and " + most);
            }
        }

        private int longest() {
            return Math.max(promptTokens, context + newTokens);
        }

        private Device open(Checkpoint checkpoint) {
            return Devices.open(
                    new DeviceOptions(device, threads, cpu, compute),
                    ModelWeights.of(checkpoint.tensors().values()));
        }
    }

    /**
     * A line of the table.
     *
     * @param test {@code pp512}: a prompt of 512 tokens; {@code tg64}: 64 tokens written by each sequence
     * @param bytesPerSecond of weights, as far as the test reads all of them once per step; 0 for prompts
     * @param profile where a step's time goes, in one line for people
     */
    public record Result(
            String model,
            String backend,
            int threads,
            int batch,
            String test,
            double tokensPerSecond,
            double standardDeviation,
            double bytesPerSecond,
            String profile) {}

    private static final int MAX_TOKENS = 1 << 20;
    private static final int MAX_BATCH = 1 << 12;
    private static final int MAX_REPETITIONS = 1_000;

    private final Plan plan;
    private final String model;
    private final Decoder decoder;
    private final StepInputs inputs;
    private final OwnPages pages;
    private final Device device;
    private final boolean isTimed;
    private final StepProgram program;
    private final StepProfile profile = new StepProfile();
    private final MemorySegment logits;
    private final Draw[] draws = new Draw[2]; // of a step and of the one before
    private int turn; // which of them the last step has
    private @Nullable Draw underWay;
    private final int vocabulary;
    private final long weightBytes;

    /** How a step's tokens are drawn on a device, and the tokens. */
    private record Draw(SamplingRows rows, SampledTokens tokens) {}

    private ModelBenchmark(
            Plan plan,
            String model,
            Checkpoint checkpoint,
            Device device,
            Decoder decoder,
            StepLimits limits,
            StepInputs inputs,
            OwnPages pages) {
        this.plan = plan;
        this.model = model;
        this.device = device;
        this.decoder = decoder;
        isTimed = device.hostThreads() > 0; // then operations end before they return
        program = isTimed ? this::profiled : decoder;
        vocabulary = decoder.spec().vocabulary();
        logits = Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, vocabulary); // a device cannot write to the heap
        for (int i = 0; i < draws.length; i++) {
            draws[i] = new Draw(new SamplingRows(limits), new SampledTokens(limits.maxOutputs()));
        }
        this.inputs = inputs;
        this.pages = pages;
        weightBytes = bytesOfAStep(checkpoint, decoder.spec().isTied());
    }

    /** All weights but an embedding of its own, of which a step reads a few rows only. */
    private static long bytesOfAStep(Checkpoint checkpoint, boolean tied) {
        long bytes = 0;
        for (Tensor tensor : checkpoint.tensors().values()) {
            boolean isTable = tensor.name().contains("embd") || tensor.name().contains("embed_tokens");
            bytes += isTable && !tied ? 0 : tensor.data().byteSize();
        }
        return bytes;
    }

    /** Runs the plan's tests on a model and hands each result on as soon as it is there; returns the seconds that loading took. */
    public static double run(Path path, Plan plan, Consumer<Result> results) {
        return run(path, List.of(), plan, results);
    }

    /** The same with adapters, which the sequences of a batch take in turn. */
    public static double run(Path path, List<Path> adapters, Plan plan, Consumer<Result> results) {
        long start = System.nanoTime();
        try (Checkpoint checkpoint = Checkpoints.open(path)) {
            return run(path, adapters, checkpoint, plan, results, start);
        }
    }

    private static double run(
            Path path, List<Path> adapters, Checkpoint checkpoint, Plan plan, Consumer<Result> results, long start) {
        int widest = plan.batches().stream().mapToInt(Integer::intValue).max().orElse(1);
        Blueprint blueprint = Architectures.read(checkpoint);
        if (plan.longest() > blueprint.spec().context()) {
            throw new InvalidRequestException("the longest sequence would have " + plan.longest()
                    + " tokens, but the context holds " + blueprint.spec().context());
        }
        var limits = new StepLimits(
                Math.max(Math.max(1, plan.promptTokens()), widest),
                widest,
                widest,
                Math.max(1, plan.longest()),
                PAGE_TOKENS);
        try (Device device = plan.open(checkpoint)) {
            List<KvGroup> groups = blueprint.spec().kvGroups();
            var inputs = new StepInputs(limits, groups.size());
            var own = new OwnPages(groups, limits, inputs);
            var pages = new KvPages(KvType.of(device.activationType()), own.counts());
            try (Decoder decoder = Decoder.open(checkpoint, blueprint, device, limits, pages)) {
                double seconds = (System.nanoTime() - start) / 1e9;
                String name = String.valueOf(path.getFileName());
                var benchmark = new ModelBenchmark(plan, name, checkpoint, device, decoder, limits, inputs, own);
                benchmark.adapt(adapters, checkpoint);
                benchmark.run(results);
                return seconds;
            }
        }
    }

    private void adapt(List<Path> paths, Checkpoint checkpoint) {
        var loaded = new ArrayList<Adapter>();
        for (Path path : paths) {
            try (var files = AdapterFiles.open(path)) {
                loaded.add(files.allocate(checkpoint, decoder.adaptable(), device));
            }
        }
        for (int s = 0; s < inputs.adapter.length && !loaded.isEmpty(); s++) {
            inputs.adapter[s] = loaded.get(s % loaded.size());
        }
        inputs.adapts = !loaded.isEmpty();
    }

    private void run(Consumer<Result> results) {
        if (plan.promptTokens() > 0) {
            List<Double> seconds = repeat(this::prompt);
            results.accept(result(1, "pp" + plan.promptTokens(), plan.promptTokens(), seconds, 0));
        }
        if (plan.newTokens() > 0) {
            for (int batch : plan.batches()) {
                List<Double> seconds = repeat(() -> write(batch));
                long bytes = weightBytes * plan.newTokens();
                results.accept(result(batch, "tg" + plan.newTokens(), batch * plan.newTokens(), seconds, bytes));
            }
        }
    }

    private List<Double> repeat(Runnable test) {
        test.run();
        profile.clear();
        var seconds = new ArrayList<Double>();
        for (int i = 0; i < plan.repetitions(); i++) {
            long start = System.nanoTime();
            test.run();
            seconds.add((System.nanoTime() - start) / 1e9);
        }
        return seconds;
    }

    private Result result(int batch, String test, int tokens, List<Double> seconds, long bytes) {
        double[] rates = seconds.stream().mapToDouble(s -> tokens / s).toArray();
        var statistics = Statistics.of(rates);
        double bytesPerSecond = statistics.mean() * bytes / tokens;
        return new Result(
                model,
                device.name(),
                device.hostThreads(),
                batch,
                test,
                statistics.mean(),
                statistics.standardDeviation(),
                bytesPerSecond,
                profile.describe());
    }

    private void prompt() {
        step(1, plan.promptTokens(), 0);
        finish();
    }

    private void write(int batch) {
        for (int position = 0; position < plan.newTokens(); position++) {
            step(batch, 1, plan.context() + position);
        }
        finish();
    }

    /**
     * Advances each sequence by some tokens, which are any, and has the likeliest of those behind the last ones. A device that samples
     * is waited for as an engine does, once it has the next step as well; from others the logits are read.
     */
    private void step(int sequences, int tokens, int position) {
        inputs.rows = sequences * tokens;
        inputs.sequences = sequences;
        inputs.outputs = sequences;
        for (int s = 0; s < sequences; s++) {
            inputs.rowStart[s] = s * tokens;
            inputs.contextLength[s] = position;
            inputs.outputRow[s] = (s + 1) * tokens - 1;
            for (int i = 0; i < tokens; i++) {
                int row = s * tokens + i;
                inputs.positions[row] = position + i;
                inputs.tokenIds[row] = tokenAt(row, position, vocabulary);
            }
        }
        inputs.rowStart[sequences] = inputs.rows;
        pages.prepare();
        long start = System.nanoTime();
        device.submit(inputs, program);
        if (device.samples()) {
            draw(sequences);
        } else {
            read(sequences - 1);
        }
        profile.addStep(System.nanoTime() - start);
    }

    /** Any token of a vocabulary, others for others, however long the context is. */
    static int tokenAt(int row, int position, int vocabulary) {
        return (int) ((row * 7919L + position * 104_729L + 1) % vocabulary);
    }

    private void profiled(Operations operations, StepInputs step) {
        decoder.run(new ProfilingOperations(operations, profile), step);
    }

    /** Has tokens of a step drawn, and waits for those of the step before. */
    private void draw(int sequences) {
        turn = 1 - turn;
        Draw draw = draws[turn];
        Draw before = underWay;
        draw.rows.begin(sequences);
        for (int row = 0; row < sequences; row++) {
            draw.rows.settlePlace(row);
        }
        device.launchSample(decoder.logits(), draw.rows, draw.tokens);
        if (before != null) {
            device.collectSample(before.tokens);
        }
        underWay = draw;
    }

    /** Waits for the last step's tokens. */
    private void finish() {
        Draw last = underWay;
        if (last != null) {
            device.collectSample(last.tokens);
            underWay = null;
        }
    }

    private void read(int output) {
        long start = System.nanoTime();
        device.read(decoder.logits(), output, 1, logits);
        if (isTimed) {
            profile.add(StepProfile.Kind.OTHERS, System.nanoTime() - start);
        }
    }
}
