package roselle.tokenizer.decoder;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import roselle.tokenizer.unicode.Utf8Character;

/**
 * SentencePiece's way back to text: ▁ is a space, which goes where the normalizer had put it before the text; runs of
 * byte tokens are UTF-8, with one U+FFFD for each byte that is part of no character.
 *
 * @param unknown the spelling of the unknown token
 * @param unknownSurface what stands for it in text
 * @param dropsFirstSpace whether the first space symbol is dropped
 * @param dropsAllSpaces whether all space symbols at the beginning are dropped
 */
public record SentencePieceStage(String unknown, String unknownSurface, boolean dropsFirstSpace, boolean dropsAllSpaces)
        implements DecoderStage {
    private static final String SPACE = "▁";

    @Override
    public String middle(String token) {
        if (token.equals(unknown)) {
            return unknownSurface;
        }
        int value = ByteFallbackStage.byteOf(token);
        return value < 0 ? token.replace(SPACE, " ") : value < 128 ? Character.toString(value) : "\uFFFD";
    }

    @Override
    public byte[] bytesOf(String spelling) {
        int value = ByteFallbackStage.byteOf(spelling);
        return value < 0 ? middle(spelling).getBytes(StandardCharsets.UTF_8) : new byte[] {(byte) value};
    }

    @Override
    public DecodingStream open() {
        return new Stream();
    }

    private final class Stream implements DecodingStream {
        private final byte[] pending = new byte[4]; // the beginning of a character
        private int pendingSize;
        private boolean isBeginning = true;
        private boolean spaceDropped;
        private boolean hasText;

        @Override
        public void append(String token, TextSink next) {
            int value = ByteFallbackStage.byteOf(token);
            if (value >= 0) {
                appendByte((byte) value, next);
                return;
            }
            finish(next);
            isBeginning &= !spaceDropped && !hasText;
            hand(token.equals(unknown) ? unknownSurface : textOf(token), next);
        }

        private String textOf(String token) {
            boolean drops = isBeginning && (dropsFirstSpace || dropsAllSpaces) && token.startsWith(SPACE);
            spaceDropped = drops && !dropsAllSpaces;
            return (drops ? token.substring(SPACE.length()) : token).replace(SPACE, " ");
        }

        private void appendByte(byte value, TextSink next) {
            pending[pendingSize++] = value;
            while (pendingSize > 0) {
                int needed = Utf8Character.length(pending, pendingSize);
                if (needed > pendingSize) {
                    return;
                }
                if (needed == 0) {
                    hand("\uFFFD", next);
                    drop(1);
                } else {
                    hand(new String(pending, 0, needed, StandardCharsets.UTF_8), next);
                    drop(needed);
                }
            }
        }

        private void drop(int count) {
            System.arraycopy(pending, count, pending, 0, pendingSize - count);
            pendingSize -= count;
        }

        @Override
        public void finish(TextSink next) {
            for (; pendingSize > 0; pendingSize--) {
                hand("\uFFFD", next);
            }
            Arrays.fill(pending, (byte) 0);
        }

        private void hand(String text, TextSink next) {
            if (!text.isEmpty()) {
                hasText = true;
                next.accept(text);
            }
        }
    }
}
