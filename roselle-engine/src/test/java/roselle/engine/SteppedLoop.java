package roselle.engine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.backend.Device;
import roselle.batch.Finished;
import roselle.batch.Outcome;
import roselle.batch.SamplingPlan;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.TokenConstraint;
import roselle.batch.Waiting;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.request.ActiveRequest;
import roselle.engine.request.TokenChannel;
import roselle.execution.Executor;
import roselle.kvcache.PageCache;
import roselle.kvcache.PrefixScope;
import roselle.model.Decoder;
import roselle.model.architecture.Architectures;
import roselle.scheduler.Scheduler;
import roselle.scheduler.SchedulerLimits;

/** An engine's loop on the caller's thread, over sequences that may be constrained. */
public final class SteppedLoop {
    private static final int SEQUENCES = 8;
    private static final int CONTEXT = 96;

    private SteppedLoop() {}

    /** A request of token ids, and what constrains its tokens. */
    public record Asked(GenerationRequest request, TokenConstraint constraint) {}

    /** Runs all to their ends on a device, which it closes, and returns the tokens of each answer. */
    public static List<List<Integer>> answers(Path model, Device device, boolean overlaps, List<Asked> all) {
        EngineConfig config = EngineConfig.of(model)
                .with(new BatchOptions(CONTEXT, SEQUENCES, 48, 16, 100))
                .with(new CacheOptions("auto", 0, 4, true));
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            var blueprint = Architectures.read(checkpoint);
            var sizes = EngineSizes.of(config, checkpoint, blueprint, device, MachineMemory.bytes());
            var decoder = Decoder.open(checkpoint, blueprint, device, sizes.limits(), sizes.kv());
            try (Executor executor = Executor.open(device, decoder, sizes.limits())) {
                var cache = new PageCache(sizes.layout(), 1);
                var scheduler = new Scheduler(
                        new SchedulerLimits(
                                sizes.limits().maxRows(),
                                sizes.chunkTokens(),
                                SEQUENCES,
                                sizes.limits().maxOutputs(),
                                100,
                                CONTEXT),
                        cache);
                var probe = new EngineProbe(executor.device(), cache, sizes.pageBytes(), scheduler);
                var resizer = new CacheResizer(cache, executor, sizes);
                resizer.begin(sizes.kvBytes());
                var parts = new LoopParts(scheduler, executor, resizer, probe);
                var loop = new EngineLoop(parts, overlaps, String::valueOf);
                List<Sequence> sequences = submit(loop, all, blueprint.spec().vocabulary());
                while (loop.step()) {
                    scheduler.checkIntegrity();
                }
                return sequences.stream().map(SteppedLoop::answer).toList();
            }
        }
    }

    private static List<Sequence> submit(EngineLoop loop, List<Asked> all, int vocabulary) {
        var sequences = new ArrayList<Sequence>();
        for (Asked asked : all) {
            int id = sequences.size();
            int[] prompt = ((Prompt.Tokens) asked.request.prompt())
                    .ids().stream().mapToInt(Integer::intValue).toArray();
            var plan = SamplingPlan.of(asked.request, new int[0], vocabulary, id, 0);
            var scheduling = new Scheduling(PrefixScope.SHARED, 0, "", id, Scheduling.NO_DEADLINE);
            int most = prompt.length + asked.request.stop().maxTokens();
            Waiting waiting = Sequence.begin(id, prompt, most, plan, scheduling, asked.constraint);
            var request = new ActiveRequest(new Waiting[] {waiting}, new TokenChannel(), 0, () -> {});
            loop.post(new EngineLoop.Command.Submit(request));
            sequences.add(waiting.sequence());
        }
        return sequences;
    }

    private static List<Integer> answer(Sequence sequence) {
        if (!(sequence.state() instanceof Finished finished)
                || !(finished.outcome() instanceof Outcome.LengthReached)) {
            throw new AssertionError("sequence " + sequence.id() + " did not reach its length");
        }
        return Arrays.stream(sequence.ids(), sequence.promptLength(), sequence.length())
                .boxed()
                .toList();
    }
}
