package roselle.cli.run;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import roselle.api.OutputOptions;
import roselle.api.SamplingParameters;
import roselle.api.StopConditions;
import roselle.cli.report.Heading;

/** The options that say how tokens are drawn, when an answer ends, and what is reported of it. */
@Heading("How tokens are drawn, and when an answer ends")
final class SamplingFlags {
    @Option(names = "--temperature", paramLabel = "X", description = "0 takes the likeliest token each time.")
    private @Nullable Double temperature;

    @Option(names = "--top-k", paramLabel = "N", description = "Draw from the N likeliest tokens; 0 from all.")
    private @Nullable Integer topK;

    @Option(
            names = "--top-p",
            paramLabel = "X",
            description = "Draw from the likeliest tokens that make up this share.")
    private @Nullable Double topP;

    @Option(names = "--min-p", paramLabel = "X", description = "Drop tokens below this share of the likeliest one.")
    private @Nullable Double minP;

    @Option(names = "--typical-p", paramLabel = "X", description = "Draw from the most typical tokens of this share.")
    private @Nullable Double typicalP;

    @Option(names = "--repetition-penalty", paramLabel = "X", description = "Above 1, avoid tokens seen before.")
    private @Nullable Double repetitionPenalty;

    @Option(names = "--presence-penalty", paramLabel = "X", description = "Above 0, avoid tokens of the answer.")
    private @Nullable Double presencePenalty;

    @Option(names = "--frequency-penalty", paramLabel = "X", description = "The same, for each time it was used.")
    private @Nullable Double frequencyPenalty;

    @Option(names = "--logit-bias", paramLabel = "ID=BIAS", description = "Make a token likelier or less likely.")
    private Map<Integer, Float> logitBias = Map.of();

    @Option(names = "--seed", paramLabel = "N", description = "The same seed and prompt give the same answer.")
    private @Nullable Long seed;

    @Option(names = "--max-tokens", paramLabel = "N", description = "End after N tokens; default: a full context.")
    private @Nullable Integer maxTokens;

    @Option(names = "--min-tokens", paramLabel = "N", description = "Do not end before N tokens.")
    private @Nullable Integer minTokens;

    @Option(names = "--stop", paramLabel = "TEXT", description = "End before this text; may be repeated.")
    private List<String> stopStrings = List.of();

    @Option(names = "--stop-token-id", paramLabel = "ID", description = "End at this token; may be repeated.")
    private Set<Integer> stopTokenIds = Set.of();

    @Option(names = "--ignore-eos", description = "Go on after the model's own end-of-text tokens.")
    private @Nullable Boolean ignoresEos;

    @Option(names = "--n", paramLabel = "N", defaultValue = "1", description = "Give N answers; default: 1.")
    private int choices;

    @Option(
            names = "--logprobs",
            paramLabel = "N",
            description = "Report log-probabilities: of each token and of the N likeliest; needs --output json.")
    private @Nullable Integer logprobs;

    @Option(names = "--prompt-logprobs", description = "Report the prompt's log-probabilities; needs --output json.")
    private boolean promptLogprobs;

    /** What was asked for, and {@code defaults} for the rest. */
    SamplingParameters over(SamplingParameters defaults) {
        return new SamplingParameters(
                or(temperature, defaults.temperature()),
                topK == null ? defaults.topK() : topK,
                or(topP, defaults.topP()),
                or(minP, defaults.minP()),
                or(typicalP, defaults.typicalP()),
                or(repetitionPenalty, defaults.repetitionPenalty()),
                or(presencePenalty, defaults.presencePenalty()),
                or(frequencyPenalty, defaults.frequencyPenalty()),
                logitBias.isEmpty() ? defaults.logitBias() : logitBias,
                seed == null ? defaults.seed() : OptionalLong.of(seed));
    }

    private static double or(@Nullable Double asked, double otherwise) {
        return asked == null ? otherwise : asked;
    }

    /** What was asked for, and {@code defaults} for the rest. */
    StopConditions over(StopConditions defaults) {
        return new StopConditions(
                maxTokens == null ? defaults.maxTokens() : maxTokens,
                minTokens == null ? defaults.minTokens() : minTokens,
                stopStrings.isEmpty() ? defaults.stopStrings() : stopStrings,
                stopTokenIds.isEmpty() ? defaults.stopTokenIds() : stopTokenIds,
                ignoresEos == null ? defaults.ignoreEos() : ignoresEos);
    }

    StopConditions stop() {
        return over(StopConditions.DEFAULT);
    }

    OutputOptions output() {
        return new OutputOptions(choices, logprobs != null, logprobs == null ? 0 : logprobs, promptLogprobs);
    }
}
