package roselle.structured;

import org.jspecify.annotations.Nullable;
import roselle.batch.TokenConstraint;
import roselle.conversation.AnswerLead;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;
import roselle.grammar.mask.TokenMask;
import roselle.grammar.mask.TokenMasks;

/**
 * Holds one answer to a compiled format. Used by one thread.
 *
 * <p>It remembers where the answer stands after the tokens that it was told of, and walks from there over tokens that are no more
 * than proposed; so nothing has to be taken back, and losing pages changes nothing.
 */
public final class FormatConstraint implements TokenConstraint {
    /** Where an answer stands. */
    private sealed interface Place {
        /** Before its text, which may be free until it begins. */
        record Lead(int at) implements Place {}

        /** At its text's beginning, where thoughts may begin, too. */
        record First() implements Place {}

        /** In its text. */
        record Text(State state) implements Place {}

        /** Behind a proposed token that is not allowed: whatever follows is never used. */
        record Off() implements Place {}
    }

    private static final Place OFF = new Place.Off();

    private final FormatMasks format;
    private final TokenMasks masks;
    private final AnswerLead lead;
    private final State start;
    private Place known;
    private int knownLength;
    private long @Nullable [] firstMask; // with the token that begins thoughts
    private String failure = "";

    FormatConstraint(FormatMasks format, int promptLength, AnswerLead lead) {
        this.format = format;
        this.lead = lead;
        masks = format.tokens();
        start = masks.matcher().state();
        knownLength = promptLength;
        known = lead.first() == AnswerLead.OVER ? beginning() : new Place.Lead(lead.first());
    }

    private Place beginning() {
        return lead.beginToken() == AnswerLead.NO_TOKEN ? new Place.Text(start) : new Place.First();
    }

    @Override
    public long[] mask(int[] ids, int length) {
        if (!failure.isEmpty()) {
            return nothing();
        }
        try {
            Place place = known;
            for (int at = knownLength; at < length; at++) {
                place = after(place, ids[at]);
            }
            return mask(place);
        } catch (GrammarException | StackOverflowError costly) {
            return fail(costly);
        }
    }

    private long[] mask(Place place) {
        return switch (place) {
            case Place.Lead _, Place.Off _ -> format.anyButEnd();
            case Place.First _ -> firstMask();
            case Place.Text(State state) -> masks.mask(state).bits();
        };
    }

    private long[] firstMask() {
        long[] mask = firstMask;
        if (mask == null) {
            mask = masks.mask(start).bits().clone();
            mask[lead.beginToken() >>> 6] |= 1L << lead.beginToken();
            firstMask = mask;
        }
        return mask;
    }

    private Place after(Place place, int token) {
        return switch (place) {
            case Place.Lead(int at) -> {
                int next = lead.next(at, token);
                yield next == AnswerLead.OVER ? new Place.Text(start) : new Place.Lead(next);
            }
            case Place.First _ ->
                token == lead.beginToken() ? new Place.Lead(lead.begun()) : text(masks.advance(start, token));
            case Place.Text(State state) -> text(masks.advance(state, token));
            case Place.Off _ -> OFF;
        };
    }

    private static Place text(@Nullable State state) {
        return state == null ? OFF : new Place.Text(state);
    }

    @Override
    public boolean isCompleteAfter(int[] ids, int length) {
        try {
            while (knownLength < length) {
                known = after(known, ids[knownLength++]);
            }
            return known instanceof Place.Text(State state)
                    && state.isAccepting()
                    && masks.mask(state).count() == format.endTokens();
        } catch (GrammarException | StackOverflowError costly) {
            fail(costly);
            return false;
        }
    }

    @Override
    public int forcedAfter(int[] ids, int length) {
        try {
            if (known instanceof Place.Text(State state)) {
                TokenMask mask = masks.mask(state);
                return mask.count() == 1 ? mask.list()[0] : NOT_FORCED;
            }
        } catch (GrammarException | StackOverflowError costly) {
            fail(costly);
        }
        return NOT_FORCED;
    }

    private long[] fail(Throwable costly) {
        failure = costly instanceof GrammarException
                ? "the format cannot be kept to any further: " + costly.getMessage()
                : "the format cannot be kept to any further: the answer is nested too deep";
        known = OFF;
        return nothing();
    }

    private long[] nothing() {
        return new long[format.anyButEnd().length];
    }

    /** Whether the answer may end where it stands. */
    boolean isAccepting() {
        return known instanceof Place.Text(State state) && state.isAccepting();
    }

    @Override
    public String failure() {
        return failure;
    }
}
