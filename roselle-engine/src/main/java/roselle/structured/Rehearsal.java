package roselle.structured;

import roselle.api.GenerationRequest;
import roselle.api.ResponseFormat;
import roselle.conversation.AnswerLead;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/**
 * Answers of every form that nobody asked for, compiled and followed as an engine does before anyone asks: classes are then loaded, much
 * is compiled, and what the masks of all formats share is known.
 */
public final class Rehearsal {
    /** Rounds of all forms, so many that most of the code is compiled as well as it will be; without a model, while nobody waits. */
    private static final int ROUNDS_BEFORE = 20;

    /** Rounds over a model's tokens: the first makes what its masks share. */
    private static final int ROUNDS = 2;

    /** One of those that nobody asked for, with a chat, for what an engine does about it. */
    public static final GenerationRequest REQUEST = GenerationRequest.builder()
            .user("")
            .format(new ResponseFormat.JsonObject())
            .build();

    private static final EncodeOptions MARKED = new EncodeOptions(false, true);

    private Rehearsal() {}

    /** Follows answers over made-up tokens, for a JVM that has no model yet; returns how many of them were allowed to their end. */
    public static int followWithoutModel() {
        var tokenizer = new MadeUpTokenizer();
        int[] endTokens = {MadeUpTokenizer.END};
        int whole = 0;
        for (int round = 1;
                round <= ROUNDS_BEFORE;
                round++) { // each with a vocabulary of its own: that takes time, too
            var formats = new CompiledFormats(tokenizer, tokenizer.vocabularySize(), endTokens);
            whole += follow(formats, tokenizer, round);
        }
        return whole;
    }

    /** Follows answers over the tokens of formats that are used for nothing else; returns how many were allowed to their end. */
    static int follow(CompiledFormats formats, Tokenizer tokenizer) {
        int whole = 0;
        for (int round = 1; round <= ROUNDS; round++) {
            whole += follow(formats, tokenizer, round);
        }
        return whole;
    }

    private static int follow(CompiledFormats formats, Tokenizer tokenizer, int round) {
        int whole = 0;
        for (RehearsedAnswer answer : RehearsedAnswer.all(round)) {
            whole += follow(formats, tokenizer, answer) ? 1 : 0;
        }
        return whole;
    }

    private static boolean follow(CompiledFormats formats, Tokenizer tokenizer, RehearsedAnswer answer) {
        HeldCalls calls = answer.calls();
        FormatMasks masks;
        if (calls == null) {
            masks = formats.compile(answer.format());
        } else {
            formats.holdable(calls);
            masks = formats.compileCalls(calls);
        }
        FormatConstraint constraint = masks.begin(0, AnswerLead.none(tokenizer));
        int[] tokens = tokenizer.encode(answer.text(), calls == null ? EncodeOptions.PLAIN : MARKED);
        for (int at = 0; at < tokens.length; at++) {
            long[] mask = constraint.mask(tokens, at);
            if ((mask[tokens[at] >>> 6] & 1L << tokens[at]) == 0) {
                return false; // a tokenizer that writes texts in another way
            }
            constraint.forcedAfter(tokens, at + 1);
            constraint.isCompleteAfter(tokens, at + 1);
        }
        constraint.mask(tokens, tokens.length);
        return constraint.isAccepting();
    }
}
