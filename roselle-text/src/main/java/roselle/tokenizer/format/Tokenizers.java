package roselle.tokenizer.format;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import roselle.api.CheckpointException;
import roselle.tokenizer.GgufVocabulary;
import roselle.tokenizer.Tokenizer;

/** Builds tokenizers from what model files say about them. */
public final class Tokenizers {
    private static final String JSON = "tokenizer.json";
    private static final String SENTENCE_PIECE = "tokenizer.model";
    private static final String CONFIG = "tokenizer_config.json";
    private static final long MAXIMUM_SENTENCE_PIECE_BYTES = 256L << 20;

    private Tokenizers() {}

    /** The tokenizer of a GGUF file; a {@code CheckpointException} where the file describes one that is not supported. */
    public static Tokenizer fromGguf(GgufVocabulary vocabulary) {
        return switch (vocabulary.model()) {
            case "gpt2" -> new GgufTokenizer(vocabulary).gpt2();
            case "llama" -> new GgufTokenizer(vocabulary).llama();
            case "gemma4" -> new GgufTokenizer(vocabulary).gemma4();
            case "bert" -> new GgufTokenizer(vocabulary).bert();
            case "t5" -> new GgufTokenizer(vocabulary).t5();
            default ->
                throw new CheckpointException("tokenizer.ggml.model is '" + vocabulary.model()
                        + "', which is not supported: use a model with gpt2, llama, gemma4, bert or t5");
        };
    }

    /**
     * The tokenizer of a model's folder: its {@code tokenizer.json}, else its {@code tokenizer.model}, with the {@code
     * tokenizer_config.json} beside it.
     */
    public static Tokenizer fromFolder(Path folder) {
        Path json = folder.resolve(JSON);
        Path sentencePiece = folder.resolve(SENTENCE_PIECE);
        if (Files.exists(json)) {
            return fromFile(json);
        }
        if (Files.exists(sentencePiece)) {
            return fromFile(sentencePiece);
        }
        throw new CheckpointException(folder + " has neither " + JSON + " nor " + SENTENCE_PIECE
                + ": add the one that the model was released with");
    }

    /**
     * What a GGUF file would say of the tokenizer of a folder: its {@code tokenizer.model}, else its {@code tokenizer.json}, with
     * the {@code tokenizer_config.json} beside it.
     *
     * @param tokens rows of the model's embedding; those without a token get one that no text becomes
     * @param stated ids that the model's configuration states, by the last part of their keys, such as {@code bos_token_id}
     * @throws CheckpointException where GGUF has no words for it
     */
    public static GgufVocabulary toGguf(Path folder, int tokens, Map<String, Integer> stated) {
        TokenizerConfig config = config(folder.resolve(CONFIG));
        Path json = folder.resolve(JSON);
        Path sentencePiece = folder.resolve(SENTENCE_PIECE);
        boolean isSentencePiece = Files.exists(sentencePiece);
        Path file = isSentencePiece ? sentencePiece : json;
        var writing = new GgufTokens(file.toString(), tokens, config, stated, fromFolder(folder));
        try (InputStream content = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
            return isSentencePiece
                    ? writing.of(SentencePieceModel.read(limited(content, file), file.toString()))
                    : writing.of(TokenizerJson.parts(content, file.toString()));
        } catch (IOException unreadable) {
            throw unreadable(file, unreadable);
        }
    }

    /**
     * The tokenizer of a file: SentencePiece's format where the name ends in {@code .model}, else Hugging Face's JSON. A
     * {@code tokenizer_config.json} beside it counts.
     */
    public static Tokenizer fromFile(Path file) {
        TokenizerConfig config = config(file.resolveSibling(CONFIG));
        String origin = file.toString();
        try (InputStream content = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
            return origin.endsWith(".model")
                    ? SentencePieceTokenizer.read(limited(content, file), origin, config)
                    : TokenizerJson.read(content, origin, config);
        } catch (IOException unreadable) {
            throw unreadable(file, unreadable);
        }
    }

    private static TokenizerConfig config(Path file) {
        if (!Files.exists(file)) {
            return TokenizerConfig.NONE;
        }
        try (InputStream content = Files.newInputStream(file)) {
            return TokenizerConfig.read(content, file.toString());
        } catch (IOException unreadable) {
            throw unreadable(file, unreadable);
        }
    }

    private static byte[] limited(InputStream content, Path file) throws IOException {
        long size = Files.size(file);
        if (size > MAXIMUM_SENTENCE_PIECE_BYTES) {
            throw new CheckpointException(
                    file + " has " + size + " bytes, the limit is " + MAXIMUM_SENTENCE_PIECE_BYTES);
        }
        return content.readAllBytes();
    }

    private static CheckpointException unreadable(Path file, IOException cause) {
        return new CheckpointException(file + " cannot be read: " + cause.getMessage(), cause);
    }
}
