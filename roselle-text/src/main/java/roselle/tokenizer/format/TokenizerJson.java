package roselle.tokenizer.format;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.decoder.DecoderStage;
import roselle.tokenizer.decoder.Decoders;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.normalizer.Growth;
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
    private static final int MAX_IDS_AROUND = 1024;

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
        return new PipelineTokenizer(parts(content, origin).pipeline(config));
    }

    /** What a file says, before anything is built of it. */
    static TokenizerJson parts(InputStream content, String origin) {
        var json = new TokenizerJson(origin);
        try (var source = new JsonSource(content, origin)) {
            json.readFields(source);
        }
        return json;
    }

    List<AddedToken> added() {
        return added;
    }

    Optional<JsonComponent> normalizer() {
        return normalizer;
    }

    Optional<JsonComponent> preTokenizer() {
        return preTokenizer;
    }

    ModelJson model() {
        return model.orElseThrow(() -> new CheckpointException(origin + ": model is missing, it must be an object"));
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
        ModelJson described = model();
        Vocabulary vocabulary = described.vocabulary();
        Normalizer normalizing = normalizer
                .map(part -> NormalizerJson.read(part.withFewParts("normalizers")))
                .orElse(Normalizer.NONE);
        boolean byteAlphabet =
                preTokenizer.filter(PreTokenizerJson::endsInByteLevel).isPresent()
                        && described.kind().equals("BPE");
        List<AddedToken> all = new ArrayList<>(added);
        all.addAll(config.tokensBeyond(added));
        var tokens = new AddedTokens(AddedTokensJson.checked(all, vocabulary, origin), normalizing);
        return new Pipeline(
                tokens,
                normalizing,
                preTokenizer.map(part -> preTokenizer(part, byteAlphabet)).orElse(PreTokenizer.NONE),
                described.build(vocabulary, byteAlphabet, tokens::isSpecial),
                vocabulary,
                config.postProcessor(tokens, vocabulary)
                        .orElseGet(() ->
                                postProcessor.map(TokenizerJson::postProcessor).orElse(PostProcessor.NONE)),
                decoder.map(TokenizerJson::decoder).orElseGet(Decoders::joinedBySpace));
    }

    private static PreTokenizer preTokenizer(JsonComponent json, boolean byteAlphabet) {
        PreTokenizer read = PreTokenizerJson.read(json.withFewParts("pretokenizers"), byteAlphabet);
        refuseGrowth(json, read.growth());
        return read;
    }

    private static PostProcessor postProcessor(JsonComponent json) {
        PostProcessor read = PostProcessorJson.read(json.withFewParts("processors"));
        int around = read.lengthOf(0);
        if (around > MAX_IDS_AROUND) {
            throw json.wrong("puts more than " + MAX_IDS_AROUND + " ids around each text");
        }
        refuseGrowth(json, (read.lengthOf(MAX_IDS_AROUND) - around) / MAX_IDS_AROUND);
        return read;
    }

    private static DecoderStage decoder(JsonComponent json) {
        DecoderStage read = DecoderJson.read(json.withFewParts("decoders"));
        refuseGrowth(json, read.growth());
        return read;
    }

    private static void refuseGrowth(JsonComponent json, int growth) {
        if (growth > Growth.MAX_FACTOR) {
            throw json.wrong("can make a text " + growth + " times as long, the limit is " + Growth.MAX_FACTOR);
        }
    }
}
