package roselle.structured;

import roselle.conversation.AnswerLead;
import roselle.grammar.mask.TokenMasks;

/** A compiled format: what all answers under it share. */
public final class FormatMasks {
    private final TokenMasks masks;
    private final int endTokens;
    private final long[] anyButEnd;

    FormatMasks(TokenMasks masks, int endTokens, long[] anyButEnd) {
        this.masks = masks;
        this.endTokens = endTokens;
        this.anyButEnd = anyButEnd;
    }

    /**
     * Begins an answer.
     *
     * @param promptLength tokens before it
     * @param lead what may come before its text
     */
    public FormatConstraint begin(int promptLength, AnswerLead lead) {
        return new FormatConstraint(this, promptLength, lead);
    }

    /** The same, without a token in what comes before an answer's text. */
    FormatMasks withoutInLead(int token) {
        if (token < 0) {
            return this;
        }
        long[] lead = anyButEnd.clone();
        lead[token >>> 6] &= ~(1L << token);
        return new FormatMasks(masks, endTokens, lead);
    }

    TokenMasks tokens() {
        return masks;
    }

    /** How many tokens end an answer. */
    int endTokens() {
        return endTokens;
    }

    /** The mask of what comes before an answer's text, which does not end there. */
    long[] anyButEnd() {
        return anyButEnd;
    }
}
