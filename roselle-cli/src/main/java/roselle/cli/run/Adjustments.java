package roselle.cli.run;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import roselle.api.InvalidRequestException;
import roselle.api.SamplingParameters;
import roselle.api.StopConditions;
import roselle.cli.report.UsageMessage;

/** What the user of a conversation has set with {@code /set}: options of {@code roselle run} by their names, read as these are. */
final class Adjustments {
    static final String THINK = "think";

    /** What a conversation cannot show. */
    private static final Set<String> LEFT_OUT = Set.of("--n", "--logprobs", "--prompt-logprobs");

    private static final Map<String, Boolean> SWITCH = Map.of("on", true, "off", false);

    private final Map<String, String> values = new LinkedHashMap<>();
    private final Requests original;
    private Requests present;

    Adjustments(Requests original) {
        this.original = original;
        present = original;
    }

    Requests present() {
        return present;
    }

    /** What can be set, in the order of the options. */
    static List<String> names() {
        var names = new ArrayList<>(CommandSpec.forAnnotatedObject(new SamplingFlags()).options().stream()
                .map(OptionSpec::longestName)
                .filter(name -> !LEFT_OUT.contains(name))
                .map(name -> name.substring(2))
                .toList());
        names.add(THINK);
        return List.copyOf(names);
    }

    /**
     * Sets one of them, or, with an empty value, takes it back to what the conversation began with.
     *
     * @throws InvalidRequestException if there is no such name, or it cannot have this value; nothing has changed then
     */
    void set(String name, String value) {
        if (!names().contains(name)) {
            throw new InvalidRequestException(
                    "there is no " + name + " to set: there are " + String.join(", ", names()));
        }
        var changed = new LinkedHashMap<>(values);
        if (value.isEmpty()) {
            changed.remove(name);
        } else {
            changed.put(name, value);
        }
        present = over(changed);
        values.clear();
        values.putAll(changed);
    }

    private Requests over(Map<String, String> changed) {
        var flags = new SamplingFlags();
        String[] arguments = changed.entrySet().stream()
                .filter(each -> !each.getKey().equals(THINK))
                .map(each -> "--" + each.getKey() + "=" + each.getValue())
                .toArray(String[]::new);
        try {
            new CommandLine(flags).parseArgs(arguments);
        } catch (ParameterException malformed) {
            throw new InvalidRequestException(UsageMessage.sentence(malformed));
        }
        return original.with(flags.over(original.sampling()), flags.over(original.stop()), thinking(changed));
    }

    private Optional<Boolean> thinking(Map<String, String> changed) {
        String value = changed.get(THINK);
        if (value == null) {
            return original.thinking();
        }
        Boolean isOn = SWITCH.get(value);
        if (isOn == null) {
            throw new InvalidRequestException("think is " + value + ": it must be on or off");
        }
        return Optional.of(isOn);
    }

    /** Everything that holds now, a line each. */
    String describe() {
        var lines = new StringBuilder();
        BiConsumer<String, Object> line =
                (name, value) -> lines.append(String.format(Locale.ROOT, "%-19s %s%n", name, value));
        SamplingParameters sampling = present.sampling();
        line.accept("temperature", sampling.temperature());
        line.accept("top-k", sampling.topK());
        line.accept("top-p", sampling.topP());
        line.accept("min-p", sampling.minP());
        line.accept("typical-p", sampling.typicalP());
        line.accept("repetition-penalty", sampling.repetitionPenalty());
        line.accept("presence-penalty", sampling.presencePenalty());
        line.accept("frequency-penalty", sampling.frequencyPenalty());
        sampling.logitBias().forEach((id, bias) -> line.accept("logit-bias", id + "=" + bias));
        sampling.seed().ifPresent(seed -> line.accept("seed", seed));
        describe(present.stop(), line);
        present.thinking().ifPresent(isOn -> line.accept(THINK, isOn ? "on" : "off"));
        return lines.toString();
    }

    private static void describe(StopConditions stop, BiConsumer<String, Object> line) {
        boolean isOpen = stop.maxTokens() == StopConditions.REST_OF_CONTEXT;
        line.accept("max-tokens", isOpen ? "a full context" : stop.maxTokens());
        line.accept("min-tokens", stop.minTokens());
        stop.stopStrings().forEach(text -> line.accept("stop", text));
        stop.stopTokenIds().forEach(id -> line.accept("stop-token-id", id));
        line.accept("ignore-eos", stop.ignoreEos());
    }
}
