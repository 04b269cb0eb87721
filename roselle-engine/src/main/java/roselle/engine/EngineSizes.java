package roselle.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import roselle.api.CapacityException;
import roselle.api.InvalidRequestException;
import roselle.backend.Device;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.step.StepLimits;
import roselle.checkpoint.Checkpoint;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.execution.Executor;
import roselle.kvcache.PageLayout;
import roselle.model.KvPages;
import roselle.model.LoadPlan;
import roselle.model.MemoryPlan;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.DecoderSpec;
import roselle.model.weights.Blueprint;
import roselle.quantization.Quantization;
import roselle.scheduler.SchedulerLimits;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * What an engine will take, decided before anything is loaded.
 *
 * @param limits the largest step
 * @param chunkTokens tokens of one prompt in a step at most
 * @param kv type and pages of the cache
 * @param memory bytes of weights, and of the rows between operations
 * @param stepBytes what steps take beside their rows, and logits and last hidden states where these are the host's
 * @param adapterBytes what adapters may take of a device's own memory
 * @param machineBytes memory that the machine has, or what may be taken of the device's own
 * @param movesPages whether the device gives memory of pages back
 * @param device in one line for people
 */
record EngineSizes(
        StepLimits limits,
        int chunkTokens,
        KvPages kv,
        MemoryPlan memory,
        long stepBytes,
        long adapterBytes,
        long machineBytes,
        boolean movesPages,
        String device) {
    /** Rows of a step beyond one for each sequence whose logits may be wanted: scored prompts, drafts. */
    private static final int SPARE_OUTPUTS = 64;

    /** Context unasked, even of a model made for less: a page of text. */
    private static final int MIN_CONTEXT = 512;

    /** The share of the machine's memory that the cache may take unasked. */
    private static final int AUTOMATIC_SHARE = 8;

    /** One such part of a device's own memory stays free, for the driver: recorded steps lie there. */
    private static final int OWN_PARTS = 16;

    /** The page layout of the cache. */
    PageLayout layout() {
        return new PageLayout(memory.groups(), kv.pages(), limits.pageTokens());
    }

    /** Bytes of everything: mapped weights, cache, rows between operations, logits, what steps need beside them, and adapters. */
    public long totalBytes() {
        return memory.totalBytes(kv.pages()) + stepBytes + adapterBytes;
    }

    public long kvBytes() {
        return memory.kvBytes(kv.pages());
    }

    /** Pages of each group below which the cache never goes while it works: those of the longest sequence alone. */
    List<Integer> leastPages() {
        PageLayout layout = layout();
        var least = new ArrayList<Integer>();
        for (int group = 0; group < layout.groupCount(); group++) {
            int one = layout.peakPages(group, limits.maxContext(), chunkTokens) + 1;
            least.add(Math.min(one, layout.poolPages(group)));
        }
        return least;
    }

    /** What the scheduler keeps to, where so many answers may wait. */
    SchedulerLimits schedulerLimits(int maxQueue) {
        return new SchedulerLimits(
                limits.maxRows(),
                chunkTokens,
                limits.maxSequences(),
                limits.maxOutputs(),
                maxQueue + limits.maxSequences() + 128,
                limits.maxContext());
    }

    /** Bytes of a page of each group, all its layers together. */
    long[] pageBytes() {
        return memory.kvBytesPerPage().stream().mapToLong(Long::longValue).toArray();
    }

    static EngineSizes of(
            EngineConfig config, Checkpoint checkpoint, Blueprint blueprint, Device backend, long machineBytes) {
        var load = LoadPlan.of(checkpoint, blueprint, backend);
        OptionalLong own = backend.memoryBytes();
        if (own.isPresent()) { // nothing is read in place, and nothing else lives there
            load = load.onDevice();
        }
        long mine = config.deviceMemory() > 0 ? config.deviceMemory() : own.orElse(0) / OWN_PARTS * (OWN_PARTS - 1);
        long bytes = own.isPresent() ? mine : machineBytes;
        var planner = new Planner(config, checkpoint, blueprint.spec(), load, backend, own.isPresent(), bytes);
        return planner.plan();
    }

    /** The plan as users see it. */
    EnginePlan plan() {
        var caches = new ArrayList<EnginePlan.Cache>();
        for (int group = 0; group < kv.pages().size(); group++) {
            KvGroup each = memory.groups().get(group);
            int pages = kv.pages().get(group);
            long bytes = memory.kvBytesPerPage().get(group) * pages;
            caches.add(new EnginePlan.Cache(
                    each.name(), each.layers(), each.window(), each.isState(), each.storedAs(kv.type()), pages, bytes));
        }
        return new EnginePlan(
                device,
                limits.maxContext(),
                limits.maxSequences(),
                limits.maxRows(),
                memory.load().weightBytes(),
                memory.load().copiedBytes(),
                kv.type(),
                limits.pageTokens(),
                caches,
                memory.kvBytes(leastPages()),
                movesPages,
                memory.workspaceBytes() + stepBytes,
                adapterBytes,
                machineBytes);
    }

    /** Settles the sizes that the configuration leaves open. */
    private static final class Planner {
        private final EngineConfig config;
        private final Device backend;
        private final LoadPlan load;
        private final DecoderSpec spec;
        private final long machineBytes;
        private final boolean isOwn; // the device's memory, else the machine's
        private final DataType rowType;
        private final KvType kvType;
        private final int share;
        private final int chunk;

        Planner(
                EngineConfig config,
                Checkpoint checkpoint,
                DecoderSpec spec,
                LoadPlan load,
                Device backend,
                boolean isOwn,
                long machineBytes) {
            this.config = config;
            this.backend = backend;
            this.isOwn = isOwn;
            this.load = load;
            this.spec = spec;
            this.machineBytes = machineBytes;
            rowType = backend.activationType();
            share = isOwn ? 1 : AUTOMATIC_SHARE;
            kvType = kvType(config.cache().kvType(), checkpoint, backend);
            chunk = config.batch().effectiveChunkTokens();
            requireRoomForTaps();
        }

        /** What a convolution sees before the first token of a page must lie in the page before it. */
        private void requireRoomForTaps() {
            int pageTokens = config.cache().pageTokens();
            int least = AttentionSpec.MAX_TAPS - 1;
            if (pageTokens < least && spec.kvGroups().stream().anyMatch(KvGroup::isState)) {
                throw new InvalidRequestException("page tokens is " + pageTokens
                        + ": models whose layers keep a state need pages of at least " + least);
            }
        }

        private static KvType kvType(String name, Checkpoint checkpoint, Device backend) {
            Optional<KvType> asked = CacheOptions.type(name);
            if (asked.isEmpty()) {
                KvType narrow = hasWideWeights(checkpoint) ? KvType.F32 : KvType.F16;
                return backend.activationType() == DataType.F32 ? narrow : KvType.of(backend.activationType());
            }
            if (!backend.kvTypes().contains(asked.get())) {
                throw new InvalidRequestException("kv type is " + name + ": " + backend.name()
                        + " keeps keys and values as " + KvType.labels(backend.kvTypes())
                        + ": ask for one of these, or for another device");
            }
            return asked.get();
        }

        private static boolean hasWideWeights(Checkpoint checkpoint) {
            Quantization quantization = Quantization.of(checkpoint);
            for (Tensor tensor : checkpoint.tensors().values()) {
                if (tensor.shape().rank() > 1 && !quantization.isScales(tensor.name())) {
                    return tensor.type() == DataType.F32;
                }
            }
            return false;
        }

        EngineSizes plan() {
            int wanted = wantedContext();
            if (fits(wanted)) {
                return planFor(wanted);
            }
            int largest = largestContext(wanted);
            if (largest == 0 || config.batch().context() > 0) {
                throw tooSmall(wanted, largest);
            }
            return planFor(largest);
        }

        /** The most tokens, in whole pages and below {@code tooMany}, that one sequence has room for; 0 where not two pages fit. */
        private int largestContext(int tooMany) {
            int pageTokens = config.cache().pageTokens();
            int fitting = 0;
            int failing = tooMany / pageTokens + 1;
            while (failing - fitting > 1) {
                int pages = (fitting + failing) >>> 1;
                if (fits(pages * pageTokens)) {
                    fitting = pages;
                } else {
                    failing = pages;
                }
            }
            return fitting < 2 ? 0 : fitting * pageTokens;
        }

        /** The context asked for, else the model's; positions without a learned table may go past what a model was made for. */
        private int wantedContext() {
            int asked = config.batch().context();
            if (asked > spec.context() && spec.learnedPositions()) {
                throw new CapacityException("a context of " + asked + " tokens is more than the " + spec.context()
                        + " positions that the model has learned: ask for less");
            }
            if (asked > 0) {
                return asked;
            }
            return spec.learnedPositions() ? spec.context() : Math.max(spec.context(), MIN_CONTEXT);
        }

        private boolean fits(int context) {
            EngineSizes least = planWith(context, pagesForOne(context));
            return least.kvBytes() <= kvBudget() && least.totalBytes() <= machineBytes;
        }

        private long kvBudget() {
            return config.cache().kvMemory() > 0 ? config.cache().kvMemory() : machineBytes / share;
        }

        private CapacityException tooSmall(int wanted, int largest) {
            EngineSizes needed = planWith(wanted, pagesForOne(wanted));
            String need = "a context of " + wanted + " tokens needs " + EnginePlan.size(needed.kvBytes())
                    + " of KV cache and "
                    + EnginePlan.size(needed.totalBytes()) + " in all, but there are " + EnginePlan.size(kvBudget())
                    + " and "
                    + EnginePlan.size(machineBytes)
                    + (needed.adapterBytes > 0
                            ? " (" + EnginePlan.size(needed.adapterBytes) + " of them for adapters: --lora-memory)"
                            : "");
            String advice = largest > 0
                    ? "; the largest context that fits is " + largest
                    : "; not even the smallest context fits: use "
                            + (config.cache().checkpoints() > 1 ? "fewer checkpoints, or " : "") + "a smaller model";
            return new CapacityException(need + advice);
        }

        private EngineSizes planFor(int context) {
            List<Integer> one = pagesForOne(context);
            List<Integer> pages = new ArrayList<>();
            long least = planWith(context, one).kvBytes();
            long budget =
                    Math.min(kvBudget(), machineBytes - planWith(context, one).totalBytes() + least);
            double sequences = Math.min(config.batch().maxSequences(), budget / (double) Math.max(1, least));
            for (int count : one) {
                pages.add((int) Math.min(Integer.MAX_VALUE / 2, Math.max(count, (long) (count * sequences))));
            }
            return planWith(context, pages);
        }

        private List<Integer> pagesForOne(int context) {
            List<KvGroup> groups = spec.kvGroups();
            var layout = new PageLayout(
                    groups,
                    java.util.Collections.nCopies(groups.size(), 1),
                    config.cache().pageTokens());
            var pages = new ArrayList<Integer>();
            for (int group = 0; group < groups.size(); group++) {
                int spare = groups.get(group).isState() ? config.cache().checkpoints() : 1;
                pages.add(
                        (int) Math.min(Integer.MAX_VALUE / 2, (long) layout.peakPages(group, context, chunk) + spare));
            }
            return pages;
        }

        private EngineSizes planWith(int context, List<Integer> pages) {
            var batch = config.batch();
            var limits = new StepLimits(
                    batch.stepTokens(),
                    batch.maxSequences(),
                    batch.maxSequences() + SPARE_OUTPUTS,
                    context,
                    config.cache().pageTokens());
            var memory = MemoryPlan.of(load, spec, limits, kvType, rowType);
            long host = isOwn ? 0 : Executor.hostBytes(limits, spec);
            long step = backend.stepBytes(spec.demands(limits, kvType)) + host;
            var kv = new KvPages(kvType, pages, backend.givesPagesBack());
            return new EngineSizes(
                    limits,
                    chunk,
                    kv,
                    memory,
                    step,
                    adapterBytes(),
                    machineBytes,
                    backend.givesPagesBack(),
                    backend.describe());
        }

        /** Adapters are the machine's until a step has them; a device of its own memory then copies them into that. */
        private long adapterBytes() {
            return isOwn && backend.takesAdapters() ? config.adapterMemory() : 0;
        }
    }
}
