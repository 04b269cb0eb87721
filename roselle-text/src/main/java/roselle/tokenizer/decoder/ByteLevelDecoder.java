package roselle.tokenizer.decoder;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import roselle.tokenizer.model.ByteAlphabet;
import roselle.tokenizer.unicode.Utf8Stream;

/**
 * Reads tokens spelled in {@link ByteAlphabet} back as UTF-8. A token with any other character in it stands for itself.
 */
public final class ByteLevelDecoder implements Decoder {
    private final Set<String> verbatim;

    /** Tokens in {@code verbatim} stand for themselves whatever their characters. */
    public ByteLevelDecoder(Set<String> verbatim) {
        this.verbatim = Set.copyOf(verbatim);
    }

    @Override
    public DecodingStream open() {
        var utf8 = new Utf8Stream();
        return new DecodingStream() {
            @Override
            public void append(String token, TextSink next) {
                utf8.append(bytesOf(token));
                hand(utf8.drain(), next);
            }

            @Override
            public void finish(TextSink next) {
                hand(utf8.finish(), next);
            }
        };
    }

    private static void hand(String text, TextSink next) {
        if (!text.isEmpty()) {
            next.accept(text);
        }
    }

    @Override
    public byte[] bytesOf(String spelling) {
        byte[] bytes = new byte[spelling.length()];
        for (int i = 0; i < bytes.length; i++) {
            int value = ByteAlphabet.byteOf(spelling.charAt(i));
            if (value < 0) {
                return spelling.getBytes(StandardCharsets.UTF_8);
            }
            bytes[i] = (byte) value;
        }
        return verbatim.contains(spelling) ? spelling.getBytes(StandardCharsets.UTF_8) : bytes;
    }
}
