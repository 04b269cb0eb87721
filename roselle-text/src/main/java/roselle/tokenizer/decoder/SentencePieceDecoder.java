package roselle.tokenizer.decoder;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Reads SentencePiece's tokens back: the space mark is a space, {@code <0xXX>} a byte.
 *
 * <p>As in Hugging Face's library, a run of byte tokens that is not UTF-8 as a whole becomes one U+FFFD for each byte,
 * so that a run is known only when it ends.
 */
public final class SentencePieceDecoder implements Decoder {
    private static final String REPLACEMENT = "\uFFFD";
    private static final int NO_BYTE = -1;

    private final boolean dropsFirstSpace;

    /** {@code dropsFirstSpace}: the text got a space in front when it was encoded, which is taken away again. */
    public SentencePieceDecoder(boolean dropsFirstSpace) {
        this.dropsFirstSpace = dropsFirstSpace;
    }

    @Override
    public DecodingStream open() {
        return new Stream(dropsFirstSpace);
    }

    @Override
    public byte[] bytesOf(String spelling) {
        int value = byteOf(spelling);
        return value == NO_BYTE ? textOf(spelling).getBytes(StandardCharsets.UTF_8) : new byte[] {(byte) value};
    }

    private static String textOf(String spelling) {
        return spelling.replace('\u2581', ' ');
    }

    /** The byte that {@code <0xXX>} spells, or -1. */
    private static int byteOf(String spelling) {
        if (spelling.length() != 6 || !spelling.startsWith("<0x") || spelling.charAt(5) != '>') {
            return NO_BYTE;
        }
        int high = Character.digit(spelling.charAt(3), 16);
        int low = Character.digit(spelling.charAt(4), 16);
        return high < 0 || low < 0 ? NO_BYTE : high << 4 | low;
    }

    /** One text's state: whether it has begun, and the run of bytes that has not ended. */
    private static final class Stream implements DecodingStream {
        private final ByteArrayOutputStream run = new ByteArrayOutputStream();
        private boolean dropsSpace;

        Stream(boolean dropsSpace) {
            this.dropsSpace = dropsSpace;
        }

        @Override
        public void append(String token, TextSink next) {
            int value = byteOf(token);
            if (value != NO_BYTE) {
                run.write(value);
                return;
            }
            finish(next);
            hand(textOf(token), next);
        }

        @Override
        public void finish(TextSink next) {
            if (run.size() > 0) {
                String text = decoded(run.toByteArray());
                run.reset();
                hand(text, next);
            }
        }

        private void hand(String text, TextSink next) {
            if (text.isEmpty()) {
                return;
            }
            String rest = dropsSpace && text.charAt(0) == ' ' ? text.substring(1) : text;
            dropsSpace = false;
            if (!rest.isEmpty()) {
                next.accept(rest);
            }
        }

        private static String decoded(byte[] bytes) {
            try {
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
            } catch (CharacterCodingException notUtf8) {
                return REPLACEMENT.repeat(bytes.length);
            }
        }
    }
}
