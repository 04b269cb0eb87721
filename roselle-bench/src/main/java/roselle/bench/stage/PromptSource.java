package roselle.bench.stage;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.bench.trace.PromptMode;
import roselle.bench.trace.PromptText;
import roselle.bench.trace.Prompts;
import roselle.bench.trace.PythonRandom;
import roselle.bench.trace.TokenDraw;
import roselle.bench.trace.Trace;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;
import roselle.tokenizer.Tokenizer;

/**
 * The prompts of a model: ids of its vocabulary, or text that its tokenizer reads as that many tokens.
 *
 * <p>The tokenizer works before a run begins, never in the measured path.
 */
public final class PromptSource {
    private final @Nullable Tokenizer tokenizer;
    private final int[] ids;
    private final int vocabulary;
    private final int context;
    private final boolean isPython;

    private PromptSource(@Nullable Tokenizer tokenizer, int[] ids, int vocabulary, int context, boolean isPython) {
        this.tokenizer = tokenizer;
        this.ids = ids;
        this.vocabulary = vocabulary;
        this.context = context;
        this.isPython = isPython;
    }

    /** Prompts for a model's files; only their metadata is read. */
    public static PromptSource of(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            var spec = Architectures.read(checkpoint).spec();
            @Nullable Tokenizer tokenizer = checkpoint.hasTokenizer() ? checkpoint.tokenizer() : null;
            int[] ids = tokenizer == null
                    ? IntStream.range(0, spec.vocabulary()).toArray()
                    : IntStream.of(PromptText.plainTokens(tokenizer))
                            .filter(id -> id < spec.vocabulary())
                            .toArray();
            return new PromptSource(tokenizer, ids, spec.vocabulary(), spec.context(), false);
        }
    }

    /** Prompts of ids below a number, for a model whose files are elsewhere. */
    public static PromptSource ofVocabulary(int size) {
        if (size < 2) {
            throw new InvalidRequestException("the vocabulary has " + size + " tokens: it must have at least 2");
        }
        return new PromptSource(null, IntStream.range(0, size).toArray(), size, 0, false);
    }

    /** The same vocabulary drawn as the articles' Python script draws it: every id but the last one, which is the end. */
    public PromptSource drawnAsPython() {
        return new PromptSource(tokenizer, ids, vocabulary, context, true);
    }

    /** Tokens of the longest sequence of the model; 0 where it is not known. */
    public int context() {
        return context;
    }

    /** One prompt of ids for each request. */
    List<int[]> ids(Trace trace, PromptMode mode, long seed) {
        if (isPython) {
            var random = new PythonRandom(seed);
            TokenDraw draw = () -> random.below(vocabulary - 1);
            return trace.entries().stream()
                    .map(entry -> draw.take(entry.inputTokens()))
                    .toList();
        }
        return new Prompts(ids, seed).of(trace, mode);
    }

    /** One prompt of text for each request. */
    List<String> texts(Trace trace, PromptMode mode, long seed) {
        Tokenizer reader = Optional.ofNullable(tokenizer)
                .orElseThrow(() -> new InvalidRequestException(
                        "the endpoint takes text only, and the model has no tokenizer to build it with"));
        var text = new PromptText(reader);
        List<int[]> words = new Prompts(text.words(seed), seed).of(trace, mode);
        return words.stream().map(each -> text.ofLength(each, each.length)).toList();
    }
}
