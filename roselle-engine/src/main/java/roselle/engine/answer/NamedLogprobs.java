package roselle.engine.answer;

import java.util.ArrayList;
import java.util.List;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.TokenLogprob;
import roselle.execution.PromptScores;
import roselle.execution.TokenScores;
import roselle.tokenizer.Tokenizer;

/** Log-probabilities with their tokens' texts, made on the reader's thread. */
public final class NamedLogprobs {
    private final Tokenizer tokenizer;

    public NamedLogprobs(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    public List<TokenLogprob> of(TokenScores scores) {
        var named = new ArrayList<TokenLogprob>(scores.count());
        for (int index = 0; index < scores.count(); index++) {
            named.add(new TokenLogprob(scores.id(index), text(scores.id(index)), scores.logprob(index)));
        }
        return named;
    }

    public PromptScored of(PromptScores prompt) {
        var ids = new ArrayList<Integer>(prompt.length());
        var logprobs = new ArrayList<List<TokenLogprob>>(prompt.length());
        for (int position = 0; position < prompt.length(); position++) {
            ids.add(prompt.id(position));
            TokenScores scores = prompt.at(position);
            logprobs.add(scores == null ? List.of() : of(scores));
        }
        return new PromptScored(ids, logprobs);
    }

    /** What a token says by itself; empty for an id that has none. */
    private String text(int id) {
        return tokenizer.hasToken(id) ? tokenizer.decode(new int[] {id}, false) : "";
    }
}
