package roselle.bench.stage;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import roselle.bench.backend.BackendException;
import roselle.bench.backend.BackendProcess;
import roselle.bench.backend.Target;
import roselle.bench.environment.Energy;
import roselle.bench.environment.EnergyMeter;
import roselle.bench.environment.ProcessorUse;
import roselle.bench.load.LoadGenerator;
import roselle.bench.load.LoadRequest;
import roselle.bench.metric.RequestSample;
import roselle.bench.trace.Trace;
import roselle.bench.trace.TraceEntry;

/** Replays a trace against an engine, at each scale. */
public final class OnlineStage {
    private static final double WARM_UP_SCALE = 0.05;
    private static final double LONGEST_WARM_UP_SECONDS = 10;

    private final OnlinePlan plan;
    private final PromptSource prompts;
    private final List<EnergyMeter> meters = EnergyMeter.available();

    public OnlineStage(OnlinePlan plan, PromptSource prompts) {
        this.plan = plan;
        this.prompts = prompts;
    }

    /** Warms up, then hands each replay on as soon as it is there. */
    public void run(Target target, Consumer<OnlineRun> runs) throws InterruptedException {
        try (var load = new LoadGenerator(target.endpoint(), plan.load())) {
            warmUp(load, target);
            for (int scale = 0; scale < plan.scales().size(); scale++) {
                for (int repeat = 0; repeat < plan.repeats(); repeat++) {
                    runs.accept(replay(load, target, scale, repeat));
                    target.process().ifPresent(BackendProcess::demandAlive);
                }
            }
        }
    }

    /** Warms up, then replays each scale once, as a repeat of the given number. */
    public void round(Target target, int repeat, Consumer<OnlineRun> runs) throws InterruptedException {
        try (var load = new LoadGenerator(target.endpoint(), plan.load())) {
            warmUp(load, target);
            for (int scale = 0; scale < plan.scales().size(); scale++) {
                runs.accept(replay(load, target, scale, repeat));
                target.process().ifPresent(BackendProcess::demandAlive);
            }
        }
    }

    private OnlineRun replay(LoadGenerator load, Target target, int scale, int repeat) throws InterruptedException {
        double factor = plan.scales().get(scale);
        List<LoadRequest> requests = requests(target, plan.trace(), plan.seed(scale, repeat), factor);
        Instant started = Instant.now();
        List<EnergyMeter.Span> spans = meters.stream().map(EnergyMeter::begin).toList();
        ProcessorUse.Span use = ProcessorUse.begin(target::processorNanos);
        List<RequestSample> samples = load.run(requests);
        ProcessorUse processors = use.end();
        List<Energy> energy = spans.stream().map(EnergyMeter.Span::end).toList();
        return new OnlineRun(target.name(), factor, repeat, started, samples, energy, processors);
    }

    /** A short replay at the first scale, for a profile. */
    public void sample(Target target, int requests) throws InterruptedException {
        try (var load = new LoadGenerator(target.endpoint(), plan.load())) {
            Trace first = plan.trace().first(requests);
            load.run(requests(target, first, plan.seed() - 2, plan.scales().getFirst()));
        }
    }

    /** One replay of a trace as it is, for those who choose the load themselves. */
    List<RequestSample> replay(LoadGenerator load, Target target, Trace trace, long seed) throws InterruptedException {
        return load.run(requests(target, trace, seed, 1));
    }

    void warmUp(LoadGenerator load, Target target) throws InterruptedException {
        if (plan.warmUp() > 0) {
            Trace first = plan.trace().first(plan.warmUp());
            double scale = first.seconds() * WARM_UP_SCALE > LONGEST_WARM_UP_SECONDS
                    ? LONGEST_WARM_UP_SECONDS / first.seconds()
                    : WARM_UP_SCALE;
            List<RequestSample> samples = load.run(requests(target, first, plan.seed() - 1, scale));
            target.process().ifPresent(BackendProcess::demandAlive);
            demandAnswers(samples, "to warm up");
        }
    }

    /** Complains if none of some requests was answered: there is nothing to measure then. */
    public static void demandAnswers(List<RequestSample> samples, String purpose) {
        if (!samples.isEmpty() && samples.stream().allMatch(RequestSample::hasFailed)) {
            throw new BackendException("none of " + samples.size() + " requests " + purpose + " was answered: "
                    + samples.getFirst().failure().orElse(""));
        }
    }

    private List<LoadRequest> requests(Target target, Trace trace, long seed, double scale) {
        List<Supplier<byte[]>> bodies = bodies(target, trace, seed);
        var requests = new ArrayList<LoadRequest>();
        for (int i = 0; i < bodies.size(); i++) {
            TraceEntry entry = trace.entries().get(i);
            long offset = Math.round(entry.arrivalSeconds() * scale * 1e9);
            requests.add(new LoadRequest(i, offset, entry.inputTokens(), entry.outputTokens(), bodies.get(i)));
        }
        return requests;
    }

    private List<Supplier<byte[]>> bodies(Target target, Trace trace, long seed) {
        target.shape().requireFormat(plan.sampling());
        var bodies = new ArrayList<Supplier<byte[]>>();
        if (target.shape().takesIds()) {
            List<int[]> ids = prompts.ids(trace, plan.mode(), seed);
            for (int i = 0; i < ids.size(); i++) {
                int[] prompt = ids.get(i);
                int tokens = trace.entries().get(i).outputTokens();
                bodies.add(() -> target.shape().body(target.model(), prompt, tokens, plan.sampling()));
            }
            return bodies;
        }
        List<String> texts = prompts.texts(trace, plan.mode(), seed);
        for (int i = 0; i < texts.size(); i++) {
            String prompt = texts.get(i);
            int tokens = trace.entries().get(i).outputTokens();
            bodies.add(() -> target.shape().body(target.model(), prompt, tokens, plan.sampling()));
        }
        return bodies;
    }
}
