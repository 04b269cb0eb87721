package roselle.tokenizer.format;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.decoder.PostProcessors;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.pipeline.AddedTokens;

/**
 * The fields of a tokenizer_config.json that change how Hugging Face's fast tokenizers encode.
 *
 * <p>{@code added_tokens_decoder} adds the tokens that tokenizer.json lacks. {@code add_bos_token} and {@code
 * add_eos_token} replace the post-processor, as the Llama, Gemma and Cohere classes do, where {@code tokenizer_class}
 * names one of these and at least one of the two is given; an absent one then counts as true for the beginning and false
 * for the end. Everything else (lengths, padding, clean-up of spaces) does not touch ids.
 */
final class TokenizerConfig {
    /** No such file. */
    static final TokenizerConfig NONE = new TokenizerConfig(Optional.empty());

    private static final Set<String> CLASSES_WITH_OWN_TEMPLATE = Set.of(
            "LlamaTokenizer",
            "LlamaTokenizerFast",
            "CodeLlamaTokenizer",
            "CodeLlamaTokenizerFast",
            "GemmaTokenizer",
            "GemmaTokenizerFast",
            "CohereTokenizer",
            "CohereTokenizerFast");

    private final Optional<JsonComponent> json;

    private TokenizerConfig(Optional<JsonComponent> json) {
        this.json = json;
    }

    /** Reads a file's content; {@code origin} names it in messages. */
    static TokenizerConfig read(InputStream content, String origin) {
        try (var source = new JsonSource(content, origin)) {
            source.next();
            Optional<JsonComponent> json = JsonComponent.read(source, "the document");
            source.expectEnd();
            return new TokenizerConfig(json);
        }
    }

    /** The added tokens that are not in {@code known} yet. */
    List<AddedToken> tokensBeyond(List<AddedToken> known) {
        List<AddedToken> beyond = new ArrayList<>();
        if (json.isEmpty() || !json.get().has("added_tokens_decoder")) {
            return beyond;
        }
        Set<String> contents = new HashSet<>();
        known.forEach(token -> contents.add(token.content()));
        JsonComponent decoder = json.get().component("added_tokens_decoder");
        for (String id : decoder.names()) {
            AddedToken token = AddedTokensJson.read(decoder.component(id), parsed(id, decoder));
            if (contents.add(token.content())) {
                beyond.add(token);
            }
        }
        return beyond;
    }

    /** The spelling of a token that a field such as {@code bos_token} names; empty where it names none. */
    Optional<String> named(String field) {
        return json.filter(config -> config.has(field)).map(config -> config.spelling(field));
    }

    private static int parsed(String id, JsonComponent decoder) {
        try {
            int value = Integer.parseInt(id);
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            // told below
        }
        throw decoder.wrong("names the token id '" + JsonSource.shortened(id) + "', ids are integers from 0 on");
    }

    /** The post-processor that the two flags ask for; empty where tokenizer.json decides. */
    Optional<PostProcessor> postProcessor(AddedTokens added, Vocabulary vocabulary) {
        if (json.isEmpty() || !decidesTemplate(json.get())) {
            return Optional.empty();
        }
        JsonComponent config = json.get();
        int[] before = config.flag("add_bos_token", true) ? id(config, "bos_token", added, vocabulary) : new int[0];
        int[] after = config.flag("add_eos_token", false) ? id(config, "eos_token", added, vocabulary) : new int[0];
        return Optional.of(PostProcessors.around(before, after));
    }

    private static boolean decidesTemplate(JsonComponent config) {
        return config.has("tokenizer_class")
                && CLASSES_WITH_OWN_TEMPLATE.contains(config.string("tokenizer_class"))
                && (config.has("add_bos_token") || config.has("add_eos_token"));
    }

    private static int[] id(JsonComponent config, String name, AddedTokens added, Vocabulary vocabulary) {
        String spelling = config.spelling(name);
        int id = added.byContent(spelling).map(AddedToken::id).orElseGet(() -> vocabulary.find(spelling));
        if (id < 0) {
            throw new CheckpointException(config.path() + "." + name + " is '" + JsonSource.shortened(spelling)
                    + "', which is no token of tokenizer.json");
        }
        return new int[] {id};
    }
}
