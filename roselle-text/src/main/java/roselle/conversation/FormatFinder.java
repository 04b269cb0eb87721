package roselle.conversation;

import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;
import roselle.conversation.format.ThoughtFormat;
import roselle.jinja.ChatTemplate;
import roselle.tokenizer.Tokenizer;

/** Finds the format of a model's chats from its template and its vocabulary. */
public final class FormatFinder {
    /** Finds the format of calls from the template; any other name is that of a format. */
    public static final String AUTO = "auto";

    private final Tokenizer tokenizer;
    private final String source;
    private final Optional<ChatTemplate> template;

    /** @param source the template's text; empty for none */
    public FormatFinder(Tokenizer tokenizer, String source, Optional<ChatTemplate> template) {
        this.tokenizer = tokenizer;
        this.source = source;
        this.template = template;
    }

    /**
     * The format of the model.
     *
     * @param toolParser the name of a format of calls, {@code none}, or {@link #AUTO}
     * @throws InvalidRequestException if there is no format of that name
     */
    public ConversationFormat find(String toolParser) {
        return ConversationFormat.of(tokenizer, thoughts(), toolParser.equals(AUTO) ? calls() : named(toolParser));
    }

    /**
     * The format of chats in which no tools are offered; found by the template's words alone, without a rendering.
     *
     * <p>Calls matter there only where the text of an answer is marked like one.
     */
    public ConversationFormat findWithoutTools() {
        CallFormat calls =
                best(format -> format.namesReader() && isSigned(format), _ -> 0).orElse(CallFormat.NONE);
        return ConversationFormat.of(tokenizer, thoughts(), calls);
    }

    /**
     * Refuses what {@link #find} would.
     *
     * @throws InvalidRequestException if there is no format of that name
     */
    public static void requireKnown(String toolParser) {
        if (!toolParser.equals(AUTO)) {
            named(toolParser);
        }
    }

    private static CallFormat named(String name) {
        if (name.equals("none")) {
            return CallFormat.NONE;
        }
        return CallFormats.named(name)
                .orElseThrow(() -> new InvalidRequestException(
                        Reason.INVALID,
                        "tool_parser",
                        "tool-parser is " + name + ": it must be auto, none, "
                                + CallFormats.ALL.stream().map(CallFormat::name).collect(Collectors.joining(", "))));
    }

    private ThoughtFormat thoughts() {
        return ThoughtFormat.find(mark -> source.contains(mark) || hasToken(mark))
                .orElse(ThoughtFormat.NONE);
    }

    private boolean hasToken(String mark) {
        return tokenizer.idOf(mark).isPresent();
    }

    private CallFormat calls() {
        return written(probe -> best(probe::isRead, probe::likeness))
                .or(() -> written(DerivedFormat::of))
                .or(() -> best(
                        this::isSigned,
                        format -> String.join("", format.signs()).length()))
                .or(() -> best(this::isInVocabulary, _ -> 0))
                .orElse(CallFormat.NONE);
    }

    /** The format of what the template writes for calls; one rendering is enough for most. */
    private Optional<CallFormat> written(Function<TemplateProbe, Optional<CallFormat>> reader) {
        return template.stream()
                .flatMap(TemplateProbe::of)
                .flatMap(probe -> reader.apply(probe).stream())
                .findFirst();
    }

    /** The first of those that are it which is most so. */
    private static Optional<CallFormat> best(Predicate<CallFormat> isIt, ToIntFunction<CallFormat> likeness) {
        return CallFormats.ALL.stream()
                .filter(isIt)
                .reduce((one, other) -> likeness.applyAsInt(other) > likeness.applyAsInt(one) ? other : one);
    }

    private boolean isSigned(CallFormat format) {
        return !format.signs().isEmpty() && format.signs().stream().allMatch(source::contains);
    }

    /** Whether the vocabulary has a token for its first mark, as models have that were trained to write it. */
    private boolean isInVocabulary(CallFormat format) {
        return format.beginMarks().stream().anyMatch(this::hasToken);
    }
}
