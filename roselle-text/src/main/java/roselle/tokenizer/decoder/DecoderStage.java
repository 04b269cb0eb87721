package roselle.tokenizer.decoder;

import java.nio.charset.StandardCharsets;

/**
 * One decoder of a chain. Each string that a stage hands on is a token for the next, until a stage joins all tokens:
 * from there on the chain works on one token, which comes in parts.
 */
public interface DecoderStage extends Decoder {
    /** What becomes of a token in the middle of a text. */
    String middle(String token);

    /** How many times as long as its tokens this stage's text may be; a token without characters counts as one. */
    default int growth() {
        return 1;
    }

    /** Whether all that this stage hands on is one token. */
    default boolean joins() {
        return false;
    }

    /** This stage over one token that comes in parts; here: once the token is complete. */
    default DecodingStream openJoined() {
        return new WholeToken(this);
    }

    @Override
    default byte[] bytesOf(String spelling) {
        return middle(spelling).getBytes(StandardCharsets.UTF_8);
    }

    /** Collects a token that comes in parts. */
    final class WholeToken implements DecodingStream {
        private final Decoder stage;
        private final StringBuilder token = new StringBuilder();

        WholeToken(Decoder stage) {
            this.stage = stage;
        }

        @Override
        public void append(String part, TextSink next) {
            token.append(part);
        }

        @Override
        public void finish(TextSink next) {
            DecodingStream stream = stage.open();
            stream.append(token.toString(), next);
            stream.finish(next);
        }
    }
}
