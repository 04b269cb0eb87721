package roselle.checkpoint;

import java.nio.file.Files;
import java.nio.file.Path;
import roselle.api.CheckpointException;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.Tokenizers;

/** Finds the tokenizer of a Hugging Face folder: tokenizer.json, else SentencePiece's tokenizer.model. */
final class TokenizerFiles {
    private TokenizerFiles() {}

    static Tokenizer readFrom(Path folder) {
        Path json = folder.resolve(ModelPath.TOKENIZER_JSON);
        if (Files.exists(json)) {
            return read(json);
        }
        Path sentencePiece = folder.resolve(ModelPath.TOKENIZER_MODEL);
        if (Files.exists(sentencePiece)) {
            return read(sentencePiece);
        }
        throw new CheckpointException(folder + " has no tokenizer: neither " + ModelPath.TOKENIZER_JSON + " nor "
                + ModelPath.TOKENIZER_MODEL);
    }

    /** A tokenizer.json or a SentencePiece model, told apart by the file's name. */
    static Tokenizer read(Path file) {
        return Tokenizers.fromFile(file);
    }
}
