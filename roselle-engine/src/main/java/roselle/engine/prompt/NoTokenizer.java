package roselle.engine.prompt;

import java.util.OptionalInt;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.IncrementalDecoder;
import roselle.tokenizer.Tokenizer;

/** Stands in where a model comes without a tokenizer: it takes and gives token ids only. */
public final class NoTokenizer implements Tokenizer {
    private final int vocabulary;

    public NoTokenizer(int vocabulary) {
        this.vocabulary = vocabulary;
    }

    @Override
    public int[] encode(String text, EncodeOptions options) {
        throw new InvalidRequestException(
                Reason.UNSUPPORTED, "", "the model has no tokenizer: send the prompt as token ids");
    }

    @Override
    public String decode(int[] ids, boolean skipSpecial) {
        return "";
    }

    @Override
    public IncrementalDecoder incrementalDecoder(boolean skipSpecial) {
        return new IncrementalDecoder() {
            @Override
            public String append(int id) {
                return "";
            }

            @Override
            public String finish() {
                return "";
            }
        };
    }

    @Override
    public int vocabularySize() {
        return vocabulary;
    }

    @Override
    public boolean hasToken(int id) {
        return id >= 0 && id < vocabulary;
    }

    @Override
    public OptionalInt idOf(String token) {
        return OptionalInt.empty();
    }

    @Override
    public String spellingOf(int id) {
        return "";
    }

    @Override
    public byte[] bytesOf(int id) {
        return new byte[0];
    }

    @Override
    public boolean isSpecial(int id) {
        return false;
    }
}
