package roselle.tokenizer.decoder;

import java.util.List;
import java.util.function.UnaryOperator;

/** The decoders of Hugging Face's library that look at one token at a time or at its neighbour. */
public final class Decoders {
    private Decoders() {}

    /** Tokens with a space between, which is what a tokenizer without decoder yields. */
    public static DecoderStage joinedBySpace() {
        return new PerToken((token, first) -> first ? token : " " + token, UnaryOperator.identity(), 2);
    }

    /** Replaces text within each token, which makes it at most {@code growth} times as long. */
    public static DecoderStage replace(UnaryOperator<String> replacement, int growth) {
        return new PerToken((token, first) -> replacement.apply(token), replacement, growth);
    }

    /** SentencePiece's space symbol becomes a space, or nothing in the first token where the model puts one there. */
    public static DecoderStage metaspace(String symbol, boolean dropsFirst) {
        return new PerToken(
                (token, first) -> token.replace(symbol, first && dropsFirst ? "" : " "),
                token -> token.replace(symbol, " "),
                1);
    }

    /** BERT's: a space before each token that does not continue a word; optionally none before punctuation. */
    public static DecoderStage wordPiece(String prefix, boolean cleanUp) {
        TokenRule rule = (token, first) -> {
            String spaced = first ? token : token.startsWith(prefix) ? token.substring(prefix.length()) : " " + token;
            return cleanUp ? cleanedUp(spaced) : spaced;
        };
        return new PerToken(rule, token -> rule.apply(token, false), 2);
    }

    /** Undoes the spaces that splitting English put before punctuation and contractions. */
    static String cleanedUp(String text) {
        return text.replace(" .", ".")
                .replace(" ?", "?")
                .replace(" !", "!")
                .replace(" ,", ",")
                .replace(" ' ", "'")
                .replace(" n't", "n't")
                .replace(" 'm", "'m")
                .replace(" do not", " don't")
                .replace(" 's", "'s")
                .replace(" 've", "'ve")
                .replace(" 're", "'re");
    }

    /** Cuts up to {@code start} and {@code stop} characters {@code content} off the ends of a token. */
    public static DecoderStage strip(int content, int start, int stop) {
        return new StripStage(content, start, stop);
    }

    /** Joins all tokens into one. */
    public static DecoderStage fuse() {
        return new FuseStage();
    }

    /** Repeated tokens count once, {@code pad} goes, {@code wordDelimiter} is a space. */
    public static DecoderStage ctc(String pad, String wordDelimiter, boolean cleanUp) {
        return new CtcStage(pad, wordDelimiter, cleanUp);
    }

    /** The mark at the end of a word becomes a space, except at the end of the text. */
    public static DecoderStage wordEnd(String suffix) {
        return new WordEndStage(suffix);
    }

    /** One decoder after the other. */
    public static DecoderStage sequence(List<DecoderStage> stages) {
        return new DecoderSequence(List.copyOf(stages));
    }

    /** What becomes of a token. */
    @FunctionalInterface
    private interface TokenRule {
        String apply(String token, boolean first);
    }

    private record PerToken(TokenRule rule, UnaryOperator<String> inMiddle, int growth) implements DecoderStage {
        @Override
        public String middle(String token) {
            return inMiddle.apply(token);
        }

        @Override
        public DecodingStream open() {
            return new DecodingStream() {
                private boolean first = true;

                @Override
                public void append(String token, TextSink next) {
                    next.accept(rule.apply(token, first));
                    first = false;
                }

                @Override
                public void finish(TextSink next) {}
            };
        }
    }

    private record FuseStage() implements DecoderStage {
        @Override
        public String middle(String token) {
            return token;
        }

        @Override
        public boolean joins() {
            return true;
        }

        @Override
        public DecodingStream open() {
            return new DecodingStream() {
                @Override
                public void append(String token, TextSink next) {
                    next.accept(token);
                }

                @Override
                public void finish(TextSink next) {}
            };
        }

        @Override
        public DecodingStream openJoined() {
            return open();
        }
    }

    /** The empty string stands before, between and behind all characters. */
    private static int growthOfSpaceFor(String mark) {
        return mark.isEmpty() ? 3 : 1;
    }

    private record CtcStage(String pad, String wordDelimiter, boolean cleanUp) implements DecoderStage {
        @Override
        public int growth() {
            return growthOfSpaceFor(wordDelimiter);
        }

        @Override
        public String middle(String token) {
            String text = token.replace(pad, "");
            return cleanUp ? cleanedUp(text).replace(wordDelimiter, " ") : text;
        }

        @Override
        public DecodingStream open() {
            return new DecodingStream() {
                private boolean first = true;
                private String previous = "";

                @Override
                public void append(String token, TextSink next) {
                    boolean repeated = !first && token.equals(previous);
                    first = false;
                    previous = token;
                    String text = repeated ? "" : middle(token);
                    if (!text.isEmpty()) {
                        next.accept(text);
                    }
                }

                @Override
                public void finish(TextSink next) {}
            };
        }
    }

    private record WordEndStage(String suffix) implements DecoderStage {
        @Override
        public int growth() {
            return growthOfSpaceFor(suffix);
        }

        @Override
        public String middle(String token) {
            return token.replace(suffix, " ");
        }

        @Override
        public DecodingStream open() {
            return new DecodingStream() {
                private String held = ""; // a token that ends a word, until it is known whether it ends the text
                private boolean holds;

                @Override
                public void append(String token, TextSink next) {
                    if (holds) {
                        next.accept(middle(held));
                    }
                    holds = token.contains(suffix);
                    held = holds ? token : "";
                    if (!holds) {
                        next.accept(token);
                    }
                }

                @Override
                public void finish(TextSink next) {
                    if (holds) {
                        next.accept(held.replace(suffix, ""));
                    }
                    holds = false;
                }
            };
        }
    }
}
