package roselle.cli.bench;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.bench.load.LoadOptions;
import roselle.bench.metric.Objective;
import roselle.bench.stage.OnlinePlan;
import roselle.bench.stage.PromptSource;
import roselle.bench.trace.LengthLimits;
import roselle.bench.trace.PromptMode;
import roselle.bench.trace.SyntheticTrace;
import roselle.bench.trace.Trace;
import roselle.bench.trace.TraceFile;
import roselle.cli.option.ModelNames;
import roselle.cli.report.Heading;
import roselle.cli.report.NearNames;

/** The options that say which requests are sent, and when. */
@Heading("Requests")
final class WorkloadFlags {
    private static final int ARTICLES_SEED = 2;
    private static final int MAX_INPUT = 1 << 27;

    @Option(
            names = "--trace",
            paramLabel = "FILE|RULE",
            description = "Azure or BurstGPT CSV, Mooncake or Bailian JSON lines, or a rule: poisson:rate=4,"
                    + " gamma:rate=4,cv=2, constant:rate=4, ramp:from=1,to=20,seconds=60, each with input=64-512 and"
                    + " output=128; default: ${DEFAULT-VALUE}.",
            defaultValue = "poisson:rate=2,input=64-256,output=64")
    private String trace = "";

    @Option(names = "--n", paramLabel = "N", defaultValue = "200", description = "Requests; default: ${DEFAULT-VALUE}.")
    private int count;

    @Option(
            names = "--scales",
            paramLabel = "X",
            split = ",",
            defaultValue = "0.4,0.8,1.6",
            description = "Arrival times are multiplied by each: smaller is heavier, 0 is all at once; default:"
                    + " ${DEFAULT-VALUE}.")
    private List<Double> scales = List.of();

    @Option(
            names = "--max-input-len",
            paramLabel = "N",
            description = "Cut prompts to N tokens; default: what the model's context leaves.")
    private int maxInput;

    @Option(
            names = "--max-output-len",
            paramLabel = "N",
            defaultValue = "128",
            description = "Cut answers to N tokens; default: ${DEFAULT-VALUE}.")
    private int maxOutput;

    @Option(
            names = "--min-output-len",
            paramLabel = "N",
            defaultValue = "1",
            description = "Make answers at least N tokens long; default: ${DEFAULT-VALUE}.")
    private int minOutput;

    @Option(
            names = "--prompt-mode",
            paramLabel = "MODE",
            defaultValue = "independent",
            description = "independent, shared-base (flatters prefix caches), or trace (its own sharing); default:"
                    + " ${DEFAULT-VALUE}.")
    private String mode = "";

    @Option(names = "--same-prompts", description = "All scales and repeats have the same prompts.")
    private boolean keepsPrompts;

    @Option(
            names = "--articles",
            description = "The articles' workload to the last token: prompts as their Python script draws them, cut to"
                    + " 895, answers of 2 to 128 tokens, the same in all runs. Needs an Azure trace.")
    private boolean isArticles;

    @Option(names = "--repeats", paramLabel = "N", defaultValue = "1", description = "Of each scale; default: 1.")
    private int repeats;

    @Option(names = "--warm-up", paramLabel = "N", defaultValue = "60", description = "Requests before; default: 60.")
    private int warmUp;

    @Mixin
    private DrawFlags draw = new DrawFlags();

    @Option(names = "--timeout", paramLabel = "S", defaultValue = "600", description = "Of a request; default: 600 s.")
    private int timeoutSeconds;

    @Option(
            names = "--slo-ttft-ms",
            paramLabel = "X",
            defaultValue = "1000",
            description = "Time to first token of a good request; default: ${DEFAULT-VALUE}.")
    private double ttftMillis;

    @Option(
            names = "--slo-tbt-ms",
            paramLabel = "X",
            defaultValue = "100",
            description = "Time between tokens of a good request; default: ${DEFAULT-VALUE}.")
    private double tbtMillis;

    @Option(
            names = "--slo-failures",
            paramLabel = "SHARE",
            defaultValue = "0",
            description = "Share of requests that may fail; default: ${DEFAULT-VALUE}.")
    private double failures;

    /** What to replay with prompts of this source. */
    OnlinePlan plan(PromptSource prompts) {
        if (count < 1) {
            throw new InvalidRequestException("--n is " + count + ": it must be at least 1");
        }
        var load = new LoadOptions(Duration.ofSeconds(timeoutSeconds), LoadOptions.DEFAULT.maxConnections());
        return new OnlinePlan(
                trace().within(limits(prompts)),
                scales,
                repeats,
                PromptMode.of(mode),
                keepsPrompts || isArticles,
                draw.sampling(),
                isArticles ? ARTICLES_SEED : draw.seed(),
                Math.min(warmUp, count),
                load,
                new Objective(ttftMillis, tbtMillis, failures));
    }

    private Trace trace() {
        return SyntheticTrace.isRule(trace)
                ? SyntheticTrace.read(trace, count)
                : TraceFile.read(NearNames.existing(Path.of(trace)), count);
    }

    private LengthLimits limits(PromptSource prompts) {
        if (isArticles) {
            return new LengthLimits(895, 2, 128);
        }
        int room = prompts.context() == 0 ? MAX_INPUT : Math.max(1, prompts.context() - maxOutput - 1);
        return new LengthLimits(maxInput == 0 ? room : maxInput, minOutput, maxOutput);
    }

    /** Whether prompts are drawn as the articles' script draws them. */
    boolean isArticles() {
        return isArticles;
    }

    /** The prompts of a model, or of a vocabulary where the model's files are elsewhere. */
    PromptSource prompts(@Nullable Path model, int vocabulary) {
        PromptSource source = source(model, vocabulary);
        return isArticles ? source.drawnAsPython() : source;
    }

    /** The same for measurements that are not the articles'. */
    static PromptSource source(@Nullable Path model, int vocabulary) {
        if (model == null && vocabulary == 0) {
            throw new InvalidRequestException("--model or --vocabulary is needed: prompts are built from one of them");
        }
        return model == null
                ? PromptSource.ofVocabulary(vocabulary)
                : PromptSource.of(NearNames.existing(ModelNames.resolve(model)));
    }
}
