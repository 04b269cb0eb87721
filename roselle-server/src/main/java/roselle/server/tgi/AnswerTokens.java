package roselle.server.tgi;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.TokenLogprob;

/**
 * The tokens of one answer, whose texts together are its text. What was held back for a stop string belongs to the last token, and
 * so does that string, which is part of the text.
 */
final class AnswerTokens {
    private final List<Piece> pieces = new ArrayList<>();
    private FinishReason reason = FinishReason.CANCELLED;
    private boolean isMatch;

    /** A token, what it adds to the text, and the token with the likeliest ones as they were scored. */
    record Piece(int id, String text, List<TokenLogprob> logprobs) {
        float logprob() {
            return logprobs.getFirst().logprob();
        }
    }

    void add(TokenGenerated token) {
        pieces.add(new Piece(token.id(), token.text(), token.logprobs()));
    }

    void end(ChoiceEnded end) {
        reason = end.reason();
        isMatch = !end.match().isEmpty();
        if (!pieces.isEmpty()) { // else it was cancelled before its first token
            Piece last = pieces.removeLast();
            pieces.add(new Piece(last.id(), last.text() + end.text() + end.match(), last.logprobs()));
        }
    }

    List<Piece> pieces() {
        return Collections.unmodifiableList(pieces);
    }

    String text() {
        var text = new StringBuilder();
        pieces.forEach(piece -> text.append(piece.text()));
        return text.toString();
    }

    /** By which the best of several answers is chosen. */
    double meanLogprob() {
        return pieces.stream().mapToDouble(Piece::logprob).average().orElse(Double.NEGATIVE_INFINITY);
    }

    String finishReason() {
        return switch (reason) {
            case LENGTH, CANCELLED -> "length"; // cut, either way
            case STOP -> isMatch ? "stop_sequence" : "eos_token";
        };
    }
}
