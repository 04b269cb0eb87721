package roselle.bench.stage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.bench.backend.BackendException;
import roselle.bench.backend.Target;
import roselle.bench.environment.ProcessorUse;
import roselle.bench.load.LoadGenerator;
import roselle.bench.load.LoadOptions;
import roselle.bench.load.LoadRequest;
import roselle.bench.metric.RequestSample;
import roselle.bench.metric.Throughput;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.Generation;

/** Measures how long an engine takes for all prompts at once. */
public final class OfflineStage {
    private static final LoadOptions OPTIONS = new LoadOptions(Duration.ofHours(1), 16_384);

    private final OfflinePlan plan;
    private final PromptSource prompts;

    public OfflineStage(OfflinePlan plan, PromptSource prompts) {
        this.plan = plan;
        this.prompts = prompts;
    }

    /** Roselle's library in this process: ids in, events out. */
    public OfflineRun inProcess(String name, String version, EngineConfig config)
            throws InterruptedException, ExecutionException {
        long start = System.nanoTime();
        try (Engine engine = Engine.open(config);
                ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
            double ready = (System.nanoTime() - start) / 1e9;
            var spent = new Spent();
            long tokens = 0;
            for (int repeat = -1; repeat < plan.repeats(); repeat++) {
                List<GenerationRequest> requests = plan.prompts(prompts, repeat).stream()
                        .map(this::request)
                        .toList();
                Spent.Span span = spent.begin(repeat >= 0, ProcessorUse.beginWithin());
                long begin = System.nanoTime();
                tokens = answerAll(engine, readers, requests);
                span.end((System.nanoTime() - begin) / 1e9);
            }
            return run(name, "in process", version, spent, tokens, ready);
        }
    }

    private GenerationRequest request(int[] ids) {
        var sampling = plan.sampling();
        return GenerationRequest.builder()
                .prompt(Prompt.Tokens.of(ids))
                .temperature(sampling.temperature())
                .topP(sampling.topP())
                .topK(sampling.topK())
                .maxTokens(plan.outputTokens())
                .ignoreEos(sampling.ignoresEos())
                .format(sampling.format().ofLibrary())
                .build();
    }

    private static long answerAll(Engine engine, ExecutorService readers, List<GenerationRequest> requests)
            throws InterruptedException, ExecutionException {
        var answers = new ArrayList<Future<Integer>>();
        for (GenerationRequest request : requests) {
            Generation generation = engine.submit(request);
            answers.add(readers.submit(() -> read(generation)));
        }
        long tokens = 0;
        for (Future<Integer> answer : answers) {
            tokens += answer.get();
        }
        return tokens;
    }

    private static int read(Generation generation) {
        try (generation) {
            for (GenerationEvent event : generation) {
                switch (event) {
                    case GenerationEvent.Finished finished -> {
                        return finished.usage().completionTokens();
                    }
                    case GenerationEvent.Failed failed -> throw failed.exception();
                    case GenerationEvent.TokenGenerated _,
                            GenerationEvent.ChoiceEnded _,
                            GenerationEvent.Reasoning _,
                            GenerationEvent.ToolCallStarted _,
                            GenerationEvent.ToolCallDelta _,
                            GenerationEvent.ToolCall _,
                            GenerationEvent.PromptScored _ -> {}
                }
            }
        }
        throw new IllegalStateException("a generation ended without its last event");
    }

    /** Any engine over HTTP, all requests at once. */
    public OfflineRun overHttp(Target target, String version, double readySeconds) throws InterruptedException {
        try (var load = new LoadGenerator(target.endpoint(), OPTIONS)) {
            var spent = new Spent();
            long tokens = 0;
            for (int repeat = -1; repeat < plan.repeats(); repeat++) {
                List<LoadRequest> requests = requests(target, repeat);
                Spent.Span span = spent.begin(repeat >= 0, ProcessorUse.begin(target::processorNanos));
                Throughput throughput = checked(load.run(requests));
                tokens = throughput.outputTokens();
                span.end(throughput.seconds());
            }
            return run(target.name(), "http", version, spent, tokens, readySeconds);
        }
    }

    private static Throughput checked(List<RequestSample> samples) {
        samples.stream()
                .flatMap(sample -> sample.failure().stream())
                .findFirst()
                .ifPresent(failure -> {
                    throw new BackendException("a request failed: " + failure);
                });
        return Throughput.of(samples);
    }

    private List<LoadRequest> requests(Target target, int repeat) {
        if (!target.shape().takesIds()) {
            List<String> texts =
                    prompts.texts(plan.trace(), roselle.bench.trace.PromptMode.INDEPENDENT, plan.seed() + repeat);
            return IntStream.range(0, texts.size())
                    .mapToObj(i -> request(
                            i, target.shape().body(target.model(), texts.get(i), plan.outputTokens(), plan.sampling())))
                    .toList();
        }
        List<int[]> ids = plan.prompts(prompts, repeat);
        return IntStream.range(0, ids.size())
                .mapToObj(i -> request(
                        i, target.shape().body(target.model(), ids.get(i), plan.outputTokens(), plan.sampling())))
                .toList();
    }

    private LoadRequest request(int index, byte[] body) {
        return new LoadRequest(index, 0, plan.inputTokens(), plan.outputTokens(), () -> body);
    }

    private OfflineRun run(String name, String path, String version, Spent spent, long tokens, double ready) {
        return new OfflineRun(
                name,
                path,
                version,
                spent.seconds(),
                plan.prompts(),
                (long) plan.prompts() * plan.inputTokens(),
                tokens,
                Optional.of(spent.processors()),
                spent.energy(),
                ready,
                "");
    }
}
