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
            private int held; // how many characters may be the end of the text and would be cut there

            @Override
            public void append(String part, TextSink next) {
                String text = withoutStart(part);
                int from = startOfEnd(text);
                int count = (text.length() - from) / Character.charCount(content);
                if (from > 0) {
                    hand(held, text.substring(0, from), next);
                    held = count;
                } else {
                    hand(Math.max(0, held + count - stop), "", next);
                    held = Math.min(stop, held + count);
                }
            }

            private void hand(int released, String text, TextSink next) {
                next.accept(Character.toString(content).repeat(released) + text);
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

            // Where the characters at the end begin that may be cut.
            private int startOfEnd(String text) {
                int from = text.length();
                for (int i = 0; i < stop && from > 0 && text.codePointBefore(from) == content; i++) {
                    from -= Character.charCount(content);
                }
                return from;
            }

            @Override
            public void finish(TextSink next) {
                held = 0;
            }
        };
    }
}
