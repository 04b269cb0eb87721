package roselle.tokenizer.format;

import java.io.ByteArrayInputStream;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.testing.OneSentence;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/** A Jazzer target: any bytes as tokenizer.json are refused in one sentence or make a tokenizer that encodes. */
public final class TokenizerJsonFuzzTarget {
    private TokenizerJsonFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            Tokenizer tokenizer =
                    TokenizerJson.read(new ByteArrayInputStream(input), "tokenizer.json", TokenizerConfig.NONE);
            tokenizer.decode(tokenizer.encode("Hello, 世界! <s> 12", new EncodeOptions(true, true)), false);
        } catch (CheckpointException | InvalidRequestException refused) {
            OneSentence.check(refused);
        }
    }
}
