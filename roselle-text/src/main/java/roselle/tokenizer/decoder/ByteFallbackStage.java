package roselle.tokenizer.decoder;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads tokens such as {@code <0x61>} as bytes. A run of them is text if it is UTF-8 as a whole, else one U+FFFD for
 * each byte, as in Hugging Face's library.
 *
 * <p>That is why a run is held back until a token of another kind follows: the bytes of {@code ä} are that letter if the
 * run ends there, and two U+FFFD if any later byte of the run is wrong, so that text given out early could not be equal
 * to the whole decoded at once. {@link SentencePieceStage} has no such rule and gives out each character at once.
 */
public record ByteFallbackStage() implements DecoderStage {
    private static final int SPELLING_LENGTH = 6;
    private static final String REPLACEMENT = "\uFFFD";

    /** The byte that a spelling stands for, or -1. */
    public static int byteOf(String spelling) {
        if (spelling.length() != SPELLING_LENGTH || !spelling.startsWith("<0x") || spelling.charAt(5) != '>') {
            return -1;
        }
        int high = hexadecimal(spelling.charAt(3));
        int low = hexadecimal(spelling.charAt(4));
        if (low < 0) {
            return -1;
        }
        return high >= 0 ? 16 * high + low : spelling.charAt(3) == '+' ? low : -1; // as Rust's numbers: a sign may lead
    }

    private static int hexadecimal(char character) {
        return character < 128 ? Character.digit(character, 16) : -1;
    }

    @Override
    public String middle(String token) {
        int value = byteOf(token);
        return value < 0 ? token : value < 128 ? Character.toString(value) : REPLACEMENT;
    }

    @Override
    public byte[] bytesOf(String spelling) {
        int value = byteOf(spelling);
        return value < 0 ? spelling.getBytes(StandardCharsets.UTF_8) : new byte[] {(byte) value};
    }

    @Override
    public DecodingStream open() {
        return new DecodingStream() {
            private final ByteArrayOutputStream run = new ByteArrayOutputStream();

            @Override
            public void append(String token, TextSink next) {
                int value = byteOf(token);
                if (value >= 0) {
                    run.write(value);
                    return;
                }
                finish(next);
                next.accept(token);
            }

            @Override
            public void finish(TextSink next) {
                if (run.size() > 0) {
                    textOf(run.toByteArray(), next);
                    run.reset();
                }
            }
        };
    }

    private static void textOf(byte[] bytes, Decoder.TextSink next) {
        try {
            next.accept(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException notText) {
            for (int i = 0; i < bytes.length; i++) {
                next.accept(REPLACEMENT);
            }
        }
    }
}
