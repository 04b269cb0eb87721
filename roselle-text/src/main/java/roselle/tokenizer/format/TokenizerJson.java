package roselle.tokenizer.format;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.decoder.Decoders;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.pipeline.AddedTokens;
import roselle.tokenizer.pipeline.Pipeline;
import roselle.tokenizer.pipeline.PipelineTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizer;
import tools.jackson.core.JsonToken;

/**
 * Reads Hugging Face's tokenizer.json. What it says about truncation and padding describes batches of a training run
 * and is not applied: a text is encoded whole.
 */
final class TokenizerJson {
    private final String origin;
    private List<AddedToken> added = new ArrayList<>();
    private Optional<JsonComponent> normalizer = Optional.empty();
    private Optional<JsonComponent> preTokenizer = Optional.empty();
    private Optional<JsonComponent> postProcessor = Optional.empty();
    private Optional<JsonComponent> decoder = Optional.empty();
    private Optional<ModelJson> model = Optional.empty();

    private TokenizerJson(String origin) {
        this.origin = origin;
    }

    /** Reads a file's content; {@code origin} names it in messages, {@code config} is what lies beside it. */
    static Tokenizer read(InputStream content, String origin, TokenizerConfig config) {
        var json = new TokenizerJson(origin);
        try (var source = new JsonSource(content, origin)) {
            json.readFields(source);
        }
        return new PipelineTokenizer(json.pipeline(config));
    }

    private void readFields(JsonSource source) {
        source.next();
        source.expect(JsonToken.START_OBJECT, "the document");
        while (source.next() != JsonToken.END_OBJECT) {
            String name = source.name();
            source.next();
            switch (name) {
                case "added_tokens" -> added = AddedTokensJson.read(JsonComponent.readAll(source, name));
                case "normalizer" -> normalizer = JsonComponent.read(source, name);
                case "pre_tokenizer" -> preTokenizer = JsonComponent.read(source, name);
                case "post_processor" -> postProcessor = JsonComponent.read(source, name);
                case "decoder" -> decoder = JsonComponent.read(source, name);
                case "model" -> model = Optional.of(ModelJson.read(source));
                default -> source.skip();
            }
        }
        source.expectEnd();
    }

    private Pipeline pipeline(TokenizerConfig config) {
        ModelJson described =
                model.orElseThrow(() -> new CheckpointException(origin + ": model is missing, it must be an object"));
        Vocabulary vocabulary = described.vocabulary();
        Normalizer normalizing = normalizer.map(NormalizerJson::read).orElse(Normalizer.NONE);
        boolean byteAlphabet =
                preTokenizer.filter(PreTokenizerJson::endsInByteLevel).isPresent()
                        && described.kind().equals("BPE");
        List<AddedToken> all = new ArrayList<>(added);
        all.addAll(config.tokensBeyond(added));
        var tokens = new AddedTokens(AddedTokensJson.checked(all, vocabulary, origin), normalizing);
        return new Pipeline(
                tokens,
                normalizing,
                preTokenizer
                        .map(part -> PreTokenizerJson.read(part, byteAlphabet))
                        .orElse(PreTokenizer.NONE),
                described.build(vocabulary, byteAlphabet),
                vocabulary,
                config.postProcessor(tokens, vocabulary)
                        .orElseGet(
                                () -> postProcessor.map(PostProcessorJson::read).orElse(PostProcessor.NONE)),
                decoder.map(DecoderJson::read).orElseGet(Decoders::joinedBySpace));
    }
}
