package roselle.tokenizer.decoder;

/** Turns token spellings back into text, one token at a time. Thread-safe; each stream belongs to one caller. */
public interface Decoder {
    /** A fresh stream, at the beginning of a text. */
    DecodingStream open();

    /** The bytes that a token with this spelling contributes in the middle of a text. */
    byte[] bytesOf(String spelling);

    /** Receives a stage's output: text for the next stage, or for the caller after the last. */
    @FunctionalInterface
    interface TextSink {
        void accept(String text);
    }

    /** The state of one stage within one text; what it can not settle yet it holds back. */
    interface DecodingStream {
        /** Takes the next token and hands on what is certain now (possibly nothing, possibly several strings). */
        void append(String token, TextSink next);

        /** Hands on what was held back. */
        void finish(TextSink next);
    }
}
