package roselle.tokenizer.decoder;

import roselle.tokenizer.unicode.Utf8Stream;

/** GPT-2's byte alphabet as a stage: all tokens become the text of their bytes. */
public record ByteLevelStage(ByteLevelDecoder decoder) implements DecoderStage {
    @Override
    public String middle(String token) {
        var utf8 = new Utf8Stream();
        utf8.append(decoder.bytesOf(token));
        return utf8.finish();
    }

    @Override
    public byte[] bytesOf(String spelling) {
        return decoder.bytesOf(spelling);
    }

    @Override
    public boolean joins() {
        return true;
    }

    @Override
    public DecodingStream open() {
        return decoder.open();
    }
}
