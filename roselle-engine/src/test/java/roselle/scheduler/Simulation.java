package roselle.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.api.FailureKind;
import roselle.api.GenerationRequest;
import roselle.api.OutputOptions;
import roselle.api.Prompt;
import roselle.api.SamplingParameters;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
import roselle.backend.memory.KvGroup;
import roselle.batch.Batch;
import roselle.batch.Finished;
import roselle.batch.Outcome;
import roselle.batch.Running;
import roselle.batch.SamplingPlan;
import roselle.batch.Scheduling;
import roselle.batch.Sequence;
import roselle.batch.StepResult;
import roselle.batch.TokenConstraint;
import roselle.batch.Waiting;
import roselle.kvcache.PageCache;
import roselle.kvcache.PageCounts;
import roselle.kvcache.PageLayout;
import roselle.kvcache.PrefixScope;
import roselle.kvcache.SequencePages;

/**
 * One seeded schedule: random requests with random faults against a scheduler with few pages, a model whose every token
 * depends on all tokens before it, and every invariant checked after every step.
 *
 * <p>Every second schedule plans steps ahead. The device then comes to a step as early as it can, when it is launched, or as
 * late, when its tokens are wanted: after the step before was committed and pages were given back.
 */
final class Simulation {
    private static final int VOCABULARY = SimulatedRequest.STOP + 1;
    private static final int MAX_CONTEXT = 72;

    private final SplittableRandom random;
    private final Sabotage sabotage;
    private final PageLayout layout;
    private final PageCache cache;
    private final SchedulerLimits limits;
    private final Scheduler scheduler;
    private final SimulatedKv kv;
    private final StepResult result;
    private final List<SimulatedRequest> requests = new ArrayList<>();
    private final Map<Sequence, SimulatedRequest> bySequence = new HashMap<>();
    private final boolean hasDrafts;
    private final boolean plansAhead;
    private final boolean resizes;
    private final ArrayDeque<SimulatedStep> launched = new ArrayDeque<>();
    private final int faultsPerHundred;
    private long now;
    private long trace = 1;
    private int steps;
    private int cachedTokens;
    private int preemptions;
    private int copies;
    private int stepsAhead;
    private int droppedRows;
    private int takenAhead;
    private int chunksAhead;
    private int newcomersAhead;
    private int leftOut;
    private int lentPages;

    Simulation(long seed, Sabotage sabotage) {
        random = new SplittableRandom(seed);
        this.sabotage = sabotage;
        layout = randomLayout();
        cache = new PageCache(sabotage.layout(layout), seed);
        limits = randomLimits();
        scheduler = new Scheduler(limits, cache);
        kv = new SimulatedKv(layout);
        result = new StepResult(limits.maxSequences(), limits.stepOutputs());
        hasDrafts = random.nextInt(4) == 0;
        faultsPerHundred = random.nextInt(3) * 4;
        plansAhead = random.nextBoolean();
        resizes = random.nextInt(4) == 0;
    }

    private PageLayout randomLayout() {
        int pageTokens = 1 << random.nextInt(4);
        int shape = random.nextInt(4);
        List<KvGroup> groups = new ArrayList<>();
        List<Integer> pages = new ArrayList<>();
        for (int group = 0; group < (shape == 3 ? 3 : shape == 1 ? 2 : 1); group++) {
            boolean isWindow = shape == 2 || group > 0;
            boolean isState = isWindow && random.nextInt(2) == 0;
            groups.add(isState ? KvGroup.ofState("group" + group, 1, 1, 1) : attending("group" + group, isWindow));
            pages.add((isState ? 16 : 3) + random.nextInt(4 + 96 / pageTokens));
        }
        return new PageLayout(groups, pages, pageTokens);
    }

    /** Layers that see everything or a window, every third of which is a chunk. */
    private KvGroup attending(String name, boolean isWindow) {
        int window = isWindow ? 1 + random.nextInt(24) : 0;
        return new KvGroup(name, 1, 1, 1, 1, window, KvGroup.NO_STATE, isWindow && window % 3 == 0);
    }

    private SchedulerLimits randomLimits() {
        int sequences = 1 + random.nextInt(6);
        return new SchedulerLimits(
                sequences + random.nextInt(24),
                1 + random.nextInt(20),
                sequences,
                sequences + random.nextInt(6),
                2 + random.nextInt(10),
                MAX_CONTEXT);
    }

    /** Runs to the end and returns a number that is the same if and only if everything happened the same way. */
    long run() {
        int arrivals = 3 + random.nextInt(14);
        int stepsAfterArrivals = 0;
        int bound = 0;
        while (arrivals > 0 || !scheduler.isIdle() || scheduler.isStepUnderWay()) {
            while (arrivals > 0 && random.nextInt(3) == 0) {
                arrivals--;
                submit();
            }
            if (arrivals == 0 && stepsAfterArrivals++ == 0) {
                bound = requests.stream()
                                .mapToInt(each -> each.sequence.maxLength())
                                .sum()
                        + requests.size() // each may have a row in one step that is for nothing
                        + 10;
                bound *= plansAhead ? 2 : 1; // the first in rank may be in every second step alone
            }
            assertThat(stepsAfterArrivals).as("steps since the last arrival").isLessThanOrEqualTo(bound + 1);
            disturb();
            step();
            now += 1_000_000;
        }
        checkEnd();
        return trace;
    }

    int steps() {
        return steps;
    }

    int cachedTokens() {
        return cachedTokens;
    }

    int preemptions() {
        return preemptions;
    }

    int copies() {
        return copies;
    }

    int stepsAhead() {
        return stepsAhead;
    }

    /** Rows of steps planned ahead for tokens that were being sampled. */
    int takenAhead() {
        return takenAhead;
    }

    /** Parts of prompts in steps planned ahead that end within the prompt. */
    int chunksAhead() {
        return chunksAhead;
    }

    /** Sequences whose first rows, since they got their pages, were in a step planned ahead. */
    int newcomersAhead() {
        return newcomersAhead;
    }

    /** Tokens that were taken without sampling. */
    long forced() {
        return scheduler.totals().forcedTokens();
    }

    /** Steps planned ahead that went on without the first in rank. */
    int leftOut() {
        return leftOut;
    }

    /** Pages that were lent while sequences ran. */
    int lentPages() {
        return lentPages;
    }

    /** Rows of steps planned ahead whose sequences had ended by then. */
    int droppedRows() {
        return droppedRows;
    }

    private void submit() {
        int id = requests.size();
        int[] prompt = randomPrompt();
        int answer = 1 + random.nextInt(20);
        String salt = random.nextInt(4) == 0 ? "other" : "";
        var scope = sabotage.scope(new PrefixScope(salt, ""));
        long deadline = random.nextInt(12) == 0 ? now + 1_000_000L * random.nextInt(40) : Scheduling.NO_DEADLINE;
        int priority = List.of(SchedulingOptions.BACKGROUND, 1, 2).get(random.nextInt(3));
        var scheduling = new Scheduling(scope, priority, "key" + random.nextInt(3), now, deadline);
        TokenConstraint forcing =
                random.nextInt(3) == 0 ? new SimulatedForcing(salt, random.nextInt(90)) : TokenConstraint.NONE;
        Waiting waiting = Sequence.begin(id, prompt, prompt.length + answer, randomPlan(), scheduling, forcing);
        try {
            scheduler.submit(waiting);
        } catch (CapacityException refused) {
            trace(-7, id);
            assertThat(refused).hasMessageMatching("(?s).*\\d+.*\\d+.*");
            return;
        }
        var request = new SimulatedRequest(waiting.sequence(), salt, random.nextInt(5) == 0);
        requests.add(request);
        bySequence.put(waiting.sequence(), request);
    }

    /** A prompt that often begins like an earlier request, so that pages are shared whole and in part. */
    private int[] randomPrompt() {
        int[] prompt = new int[1 + random.nextInt(random.nextInt(4) == 0 ? 60 : 30)];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = random.nextInt(4);
        }
        if (!requests.isEmpty() && random.nextInt(4) != 0) {
            Sequence earlier = requests.get(random.nextInt(requests.size())).sequence;
            int common = Math.min(prompt.length, random.nextInt(earlier.length() + 1));
            System.arraycopy(earlier.ids(), 0, prompt, 0, common);
        }
        return prompt;
    }

    private SamplingPlan randomPlan() {
        var stop = new StopConditions(100, random.nextInt(4), List.of(), Set.of(), random.nextInt(5) == 0);
        var output = new OutputOptions(1, false, 0, random.nextInt(6) == 0);
        var request = new GenerationRequest(
                Prompt.Tokens.of(0),
                SamplingParameters.GREEDY,
                stop,
                output,
                new SchedulingOptions(0, "", "", Duration.ZERO));
        return SamplingPlan.of(request, new int[] {SimulatedRequest.STOP}, VOCABULARY, 1, 0);
    }

    private void disturb() {
        if (random.nextInt(100) < faultsPerHundred) {
            cancelSomeone();
        }
        if (random.nextInt(100) < faultsPerHundred && !scheduler.isStepUnderWay()) {
            Preemption.ofYoungest(scheduler);
        }
        if (resizes && random.nextInt(4) == 0) {
            resizeSomePool();
        }
        if (random.nextInt(2000) < faultsPerHundred) {
            scheduler.failAll(FailureKind.INTERNAL, "device lost");
            launched.clear();
            requests.forEach(each -> each.failureInjected = true);
        }
    }

    /** Has a pool give pages up, or take them again, however far that goes at the moment; one sequence always fits. */
    private void resizeSomePool() {
        int group = random.nextInt(layout.groupCount());
        int least = Math.min(
                layout.poolPages(group),
                layout.peakPages(group, scheduler.longestSequence(), limits.chunkTokens()) + 1);
        int before = cache.total(group);
        int[] moved = cache.resize(group, least + random.nextInt(layout.poolPages(group) - least + 1));
        if (cache.total(group) < before) {
            launched.forEach(each -> each.run(sabotage)); // a device does as it is told, in that order
            kv.lose(group, moved);
            lentPages += moved.length;
        }
    }

    private void cancelSomeone() {
        if (requests.isEmpty()) {
            return;
        }
        var request = requests.get(random.nextInt(requests.size()));
        request.cancelAsked = true;
        scheduler.cancel(request.sequence);
    }

    private void step() {
        if (!scheduler.isStepUnderWay()) {
            Batch planned = scheduler.plan(now);
            sabotage.afterPlan(cache, planned);
            checkPlan(planned);
            checkFirstAdvances(planned);
            launch(planned);
        }
        if (random.nextInt(100) < faultsPerHundred) {
            cancelSomeone();
        }
        if (scheduler.isStepUnderWay()) {
            Batch batch = scheduler.stepUnderWay();
            if (plansAhead && random.nextInt(8) != 0) {
                Batch ahead = scheduler.planAhead(now);
                stepsAhead += ahead.isEmpty() ? 0 : 1;
                sabotage.afterPlan(cache, ahead);
                checkPlan(ahead);
                checkPlannedAhead(batch, ahead);
                launch(ahead);
            }
            collect(batch);
            scheduler.stepTook(batch.totalRows() * 1_000_000L);
            scheduler.commit(result);
            propose(batch);
            steps++;
        }
        scheduler.drainEnded(this::end);
        for (int group = 0; group < layout.groupCount(); group++) {
            PageCounts counts = cache.counts(group);
            assertThat(counts.free() + counts.cached() + counts.owned()).isEqualTo(counts.total());
        }
        if (sabotage.audits()) {
            scheduler.checkIntegrity();
        }
    }

    private void end(Finished finished) {
        var request = request(finished.sequence());
        request.outcomes.add(finished.outcome());
        preemptions += finished.sequence().preemptions();
        cachedTokens += finished.sequence().cachedTokens();
        trace(-9, finished.sequence().id());
    }

    private SimulatedRequest request(Sequence sequence) {
        SimulatedRequest request = bySequence.get(sequence);
        if (request == null) {
            throw new AssertionError("a sequence that nobody submitted");
        }
        return request;
    }

    private void checkPlan(Batch batch) {
        assertThat(batch.totalRows()).isLessThanOrEqualTo(limits.stepTokens());
        assertThat(batch.totalOutputs()).isLessThanOrEqualTo(limits.stepOutputs());
        Set<Sequence> present = new HashSet<>();
        Set<Long> written = new HashSet<>();
        for (int entry = 0; entry < batch.size(); entry++) {
            Running running = batch.running(entry);
            if (!present.add(running.sequence()) || running.sequence().state() != running) {
                throw new AssertionError("a sequence is in the step twice, or not running");
            }
            checkWrites(running, batch.endPosition(entry) - batch.rows(entry), batch.endPosition(entry), written);
            trace(running.sequence().id(), batch.rows(entry));
        }
    }

    private void checkWrites(Running running, int begin, int end, Set<Long> written) {
        SequencePages pages = running.pages();
        int first = begin / layout.pageTokens();
        int last = (end - 1) / layout.pageTokens();
        if (first < pages.sharedPages() || last >= pages.pageCount()) {
            throw new AssertionError(
                    "rows of sequence " + running.sequence().id() + " would go to shared pages or none");
        }
        for (int group = 0; group < layout.groupCount(); group++) {
            for (int index = first; index <= last; index++) {
                boolean isKept = !layout.isSparse(group) || pages.page(group, index) >= 0;
                if (isKept && !written.add(((long) group << 32) + pages.page(group, index))) {
                    throw new AssertionError("page " + pages.page(group, index) + " has two writers");
                }
            }
        }
    }

    /** Whose rows follow those of the step under way, and that a step ahead leaves out the first in rank at most once. */
    private void checkPlannedAhead(Batch underWay, Batch ahead) {
        for (int entry = 0; entry < ahead.size(); entry++) {
            Running running = ahead.running(entry);
            int begin = ahead.endPosition(entry) - ahead.rows(entry);
            int expected = running.computed();
            for (int each = 0; each < underWay.size(); each++) {
                expected = underWay.running(each) == running ? underWay.endPosition(each) : expected;
            }
            assertThat(begin).as("first row of a step ahead").isEqualTo(expected);
            newcomersAhead += begin == running.computed() && running.sequence().generated() == 0 ? 1 : 0;
            chunksAhead += ahead.sampledRows(entry) == 0 ? 1 : 0;
            takenAhead += ahead.takesSampled(entry) ? 1 : 0;
            assertThat(ahead.takesSampled(entry))
                    .as("takes what is being sampled")
                    .isEqualTo(begin == running.sequence().length());
        }
        Running first = firstRunning();
        if (first == null || ahead.isEmpty() || ahead.contains(first) || request(first.sequence()).cancelAsked) {
            return;
        }
        leftOut++;
        if (!underWay.contains(first) && !first.sequence().scheduling().isBackground()) {
            throw new AssertionError("sequence " + first.sequence().id() + " ranks first but is in neither step");
        }
    }

    /** The running sequence that ranks first, unless it may give way, is in every step not planned ahead: so every schedule ends. */
    private void checkFirstAdvances(Batch batch) {
        Running first = firstRunning();
        if (first != null
                && !batch.contains(first)
                && !first.sequence().scheduling().isBackground()) {
            throw new AssertionError("sequence " + first.sequence().id() + " ranks first but does not advance");
        }
    }

    private @Nullable Running firstRunning() {
        Sequence earliest = null;
        for (var each : requests) {
            if (each.sequence.state() instanceof Running
                    && (earliest == null || each.sequence.arrivedBefore(earliest))) {
                earliest = each.sequence;
            }
        }
        Sequence first = earliest;
        for (var each : requests) { // its key's place belongs to that key's first
            if (first != null
                    && each.sequence.state() instanceof Running running
                    && RunningSet.key(running).equals(first.scheduling().key())
                    && each.sequence.ranksAbove(first)) {
                first = each.sequence;
            }
        }
        return first != null && first.state() instanceof Running running ? running : null;
    }

    /** Gives a step to the device, which runs it now or when its tokens are wanted, but never before the one before it. */
    private void launch(Batch batch) {
        if (batch.isEmpty()) {
            return;
        }
        var step = new SimulatedStep(layout, kv);
        for (int entry = 0; entry < batch.size(); entry++) {
            Running running = batch.running(entry);
            var request = request(running.sequence());
            int begin = batch.endPosition(entry) - batch.rows(entry);
            if (batch.needsCopy(entry) && sabotage.copies()) {
                copies += layout.groupCount();
                step.copy(running.pages());
            }
            if (batch.sampledRows(entry) == 1 && (!request.isHostSampled || sabotage.launchesHostRows())) {
                batch.recordSampledOnDevice(entry);
            }
            var prefixes = new long[batch.rows(entry)];
            for (int row = 0; row < prefixes.length; row++) {
                prefixes[row] = prefixAt(running, begin + row, begin);
            }
            step.add(new SimulatedStep.Part(request, SimulatedStep.tables(layout, running.pages()), begin, prefixes));
        }
        launched.add(step);
        if (random.nextBoolean()) {
            launched.forEach(each -> each.run(sabotage));
        }
    }

    /** Waits for the step under way. */
    private void collect(Batch batch) {
        launched.remove().run(sabotage);
        sample(batch);
    }

    /** The hash of the sequence up to a position, which may be that of a draft, or of the token that it is about to get. */
    private long prefixAt(Running running, int position, int begin) {
        var request = request(running.sequence());
        int known = running.sequence().length();
        long prefix = request.prefix(Math.min(position, known - 1));
        for (int i = known; i <= position; i++) {
            boolean isAhead = begin == known;
            prefix = SimulatedKv.mix(prefix, isAhead ? tokenOnDevice(request, prefix) : running.draft(i - known));
        }
        return prefix;
    }

    /** What the device has of a token that is not collected yet: nothing sensible where the host samples it. */
    private static int tokenOnDevice(SimulatedRequest request, long prefix) {
        return SimulatedRequest.nextToken(prefix) + (request.isHostSampled ? 1 : 0);
    }

    private void sample(Batch batch) {
        result.clear();
        for (int entry = 0; entry < batch.size(); entry++) {
            result.beginEntry();
            Running running = batch.running(entry);
            if (batch.isDropped(entry)) {
                droppedRows++;
                continue;
            }
            int sampled = batch.sampledRows(entry);
            checkScoring(batch, entry, sampled);
            if (sampled > 0 && random.nextInt(1000) < faultsPerHundred) {
                result.fail(FailureKind.INTERNAL, "NaN");
                request(running.sequence()).failureInjected = true;
            } else {
                verifyDrafts(running, sampled);
            }
        }
    }

    private void checkScoring(Batch batch, int entry, int sampled) {
        Running running = batch.running(entry);
        var request = request(running.sequence());
        int scoring = batch.promptOutputs(entry);
        if (scoring > 0) {
            int first = running.computed() + batch.rows(entry) - batch.outputs(entry);
            assertThat(first).as("first prompt row scored").isEqualTo(request.rowsScored);
            request.rowsScored += scoring;
        }
        assertThat(batch.outputs(entry)).isGreaterThanOrEqualTo(sampled);
    }

    /** Samples from the row of the last known token, and from those of drafts as long as they were right. */
    private void verifyDrafts(Running running, int sampled) {
        int position = running.sequence().length() - 1;
        for (int i = 0; i < sampled; i++) {
            int token = SimulatedRequest.nextToken(prefixAt(running, position + i, position));
            result.append(token);
            if (i < sampled - 1 && running.draft(i) != token) {
                return;
            }
        }
    }

    private void propose(Batch batch) {
        int[] drafts = new int[4];
        for (int entry = 0; hasDrafts && entry < batch.size(); entry++) {
            if (batch.sequence(entry).state() instanceof Running running
                    && running.isGenerating()
                    && running.remaining() > 0
                    && !(scheduler.isStepUnderWay() && scheduler.stepUnderWay().contains(running))) {
                long prefix =
                        request(running.sequence()).prefix(running.sequence().length() - 1);
                for (int i = 0; i < drafts.length; i++) {
                    drafts[i] = random.nextInt(4) == 0 ? 0 : SimulatedRequest.nextToken(prefix);
                    prefix = SimulatedKv.mix(prefix, drafts[i]);
                }
                running.propose(drafts, random.nextInt(5));
            }
        }
    }

    private void checkEnd() {
        for (var request : requests) {
            assertThat(request.outcomes)
                    .as("ends of sequence " + request.sequence.id())
                    .hasSize(1);
            checkOutcome(request, request.outcomes.getFirst());
        }
        for (int group = 0; group < layout.groupCount(); group++) {
            PageCounts counts = cache.counts(group);
            assertThat(counts.owned()).isZero();
            assertThat(counts.available()).isEqualTo(counts.total());
        }
    }

    private void checkOutcome(SimulatedRequest request, Outcome outcome) {
        int[] expected = request.expectedAnswer();
        int[] answer = request.answer();
        switch (outcome) {
            case Outcome.Stopped stopped -> {
                assertThat(answer).isEqualTo(expected);
                assertThat(stopped.tokenId()).isEqualTo(SimulatedRequest.STOP);
            }
            case Outcome.Completed _ -> throw new AssertionError("no sequence is constrained here");
            case Outcome.LengthReached full -> {
                assertThat(answer).isEqualTo(expected);
                assertThat(request.sequence.length()).isEqualTo(request.sequence.maxLength());
            }
            case Outcome.Cancelled cancelled -> assertThat(request.cancelAsked).isTrue();
            case Outcome.Failed failed ->
                assertThat(request.failureInjected || failed.kind() == FailureKind.DEADLINE)
                        .isTrue();
        }
        assertThat(Arrays.copyOf(expected, answer.length)).isEqualTo(answer);
        boolean isWhole = outcome instanceof Outcome.Stopped || outcome instanceof Outcome.LengthReached;
        if (isWhole && request.sequence.plan().scoresPrompt) {
            assertThat(request.rowsScored).isEqualTo(request.sequence.promptLength() - 1);
        }
    }

    private void trace(long a, long b) {
        trace = SimulatedKv.mix(SimulatedKv.mix(trace, a), b);
    }
}
