package roselle.tokenizer.format;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import roselle.tokenizer.Tokenizer;

/** Small tokenizers in the configurations of released families (tools/tokenizers/train_small.py), read both ways. */
public final class TokenizerFixture {
    /** All families. */
    public static final List<String> FAMILIES = List.of(
            "albert",
            "bert-cased",
            "bert-uncased",
            "bloom",
            "byte-normalizer",
            "clip",
            "command-r",
            "ctc",
            "deepseek3",
            "falcon",
            "gemma",
            "gpt-neox",
            "gpt1",
            "gpt2",
            "llama2",
            "llama3",
            "o200k",
            "olmo",
            "phi3",
            "qwen2",
            "roberta",
            "starcoder",
            "t5",
            "tekken",
            "unigram-bytes",
            "word-level",
            "xlm-roberta");

    private TokenizerFixture() {}

    public static byte[] json(String family) {
        return resource("/tokenizers/" + family + ".json.gz");
    }

    /** The content of a resource, unpacked where its name ends in .gz. */
    public static byte[] resource(String name) {
        try (InputStream packed = TokenizerFixture.class.getResourceAsStream(name)) {
            if (packed == null) {
                throw new IllegalArgumentException("no resource " + name);
            }
            return (name.endsWith(".gz") ? new GZIPInputStream(packed) : packed).readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    public static Tokenizer ours(byte[] json) {
        return TokenizerJson.read(new ByteArrayInputStream(json), "tokenizer.json", TokenizerConfig.NONE);
    }

    public static HuggingFaceTokenizer theirs(byte[] json) {
        try {
            return HuggingFaceTokenizer.newInstance(
                    new ByteArrayInputStream(json), Map.of("truncation", "false", "padding", "false"));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Spellings worth sprinkling into random texts: special tokens and the last of the vocabulary. */
    public static List<String> spellings(Tokenizer tokenizer) {
        List<String> spellings = new ArrayList<>();
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            if (tokenizer.isSpecial(id) || id > tokenizer.vocabularySize() - 20) {
                spellings.add(tokenizer.spellingOf(id));
            }
        }
        return spellings;
    }
}
