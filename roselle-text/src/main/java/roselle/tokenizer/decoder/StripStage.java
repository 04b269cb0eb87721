package roselle.tokenizer.decoder;

/** Cuts up to {@code start} and {@code stop} characters {@code content} off the ends of a token. */
record StripStage(int content, int start, int stop) implements DecoderStage {
    @Override
    public String middle(String token) {
        return token;
    }

    private String stripped(String token) {
        int width = Character.charCount(content);
        int from = 0;
        for (int i = 0; i < start && from < token.length() && token.codePointAt(from) == content; i++) {
            from += width;
        }
        int to = token.length();
        for (int i = 0; i < stop && to > from && token.codePointBefore(to) == content; i++) {
            to -= width;
        }
        return token.substring(from, to);
    }

    @Override
    public DecodingStream open() {
        return new DecodingStream() {
            @Override
            public void append(String token, TextSink next) {
                next.accept(stripped(token));
            }

            @Override
            public void finish(TextSink next) {}
        };
    }

    @Override
    public DecodingStream openJoined() {
        return new DecodingStream() {
            private int toStrip = start;
            private String held = ""; // what may be the end of the text and would be cut there

            @Override
            public void append(String part, TextSink next) {
                String text = held + withoutStart(part);
                int certain = text.length() - endLength(text);
                held = text.substring(certain);
                next.accept(text.substring(0, certain));
            }

            private String withoutStart(String part) {
                int from = 0;
                while (toStrip > 0 && from < part.length()) {
                    if (part.codePointAt(from) != content) {
                        toStrip = 0;
                    } else {
                        from += Character.charCount(content);
                        toStrip--;
                    }
                }
                return part.substring(from);
            }

            private int endLength(String text) {
                int from = text.length();
                for (int i = 0; i < stop && from > 0 && text.codePointBefore(from) == content; i++) {
                    from -= Character.charCount(content);
                }
                return text.length() - from;
            }

            @Override
            public void finish(TextSink next) {
                held = "";
            }
        };
    }
}
