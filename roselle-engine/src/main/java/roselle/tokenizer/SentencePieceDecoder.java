package roselle.tokenizer;

import java.nio.charset.StandardCharsets;

/** Reads SentencePiece's tokens back: the space mark is a space, {@code <0xXX>} a byte. */
final class SentencePieceDecoder implements Decoder {
    private final boolean dropsFirstSpace;

    /** {@code dropsFirstSpace}: the text got a space in front when it was encoded, which is taken away again. */
    SentencePieceDecoder(boolean dropsFirstSpace) {
        this.dropsFirstSpace = dropsFirstSpace;
    }

    @Override
    public DecodingStream open() {
        var utf8 = new Utf8Stream();
        return new DecodingStream() {
            private boolean atStart = dropsFirstSpace;

            @Override
            public void append(String token, TextSink next) {
                utf8.append(bytesOf(token));
                hand(utf8.drain(), next);
            }

            @Override
            public void finish(TextSink next) {
                hand(utf8.finish(), next);
            }

            private void hand(String text, TextSink next) {
                String rest = atStart && text.startsWith(" ") ? text.substring(1) : text;
                atStart &= text.isEmpty();
                if (!rest.isEmpty()) {
                    next.accept(rest);
                }
            }
        };
    }

    @Override
    public byte[] bytesOf(String spelling) {
        if (spelling.length() == 6 && spelling.startsWith("<0x") && spelling.endsWith(">")) {
            int high = Character.digit(spelling.charAt(3), 16);
            int low = Character.digit(spelling.charAt(4), 16);
            if (high >= 0 && low >= 0) {
                return new byte[] {(byte) (high << 4 | low)};
            }
        }
        return spelling.replace('\u2581', ' ').getBytes(StandardCharsets.UTF_8);
    }
}
