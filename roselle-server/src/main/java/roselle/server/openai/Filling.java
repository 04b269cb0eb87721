package roselle.server.openai;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import roselle.api.Prompt;
import roselle.api.StopConditions;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.FillTokens;

/** What a completion's prompts become: text before {@code suffix}, if that is there, else what the model makes of them. */
record Filling(Optional<FillTokens> tokens, String suffix, ServedModel model, AdmittedRequest admitted) {
    static Filling read(JsonFields fields, ServedModel model, AdmittedRequest admitted, boolean echoes) {
        if (echoes && model.defaults().makesTurns()) {
            throw ApiException.invalid(
                    "echo", "echo is true, but the prompt of " + model.name() + " is more than the text: leave it out");
        }
        String suffix = fields.string("suffix").orElse("");
        if (suffix.isEmpty()) {
            return new Filling(Optional.empty(), suffix, model, admitted);
        }
        if (echoes) {
            throw ApiException.invalid("suffix", "suffix and echo exclude each other: what is filled in is told alone");
        }
        var tokens = FillTokens.of(model.engine().tokenizer(), "suffix");
        return new Filling(Optional.of(tokens), suffix, model, admitted);
    }

    List<Prompt> prompts(List<Prompt> given) {
        return tokens.map(fill -> given.stream()
                        .map(prompt -> (Prompt) fill.between(
                                withoutSpecial(prompt), suffix, "", text -> admitted.tokenize(model, text)))
                        .toList())
                .orElseGet(() -> given.stream().map(model.defaults()::before).toList());
    }

    private static Prompt withoutSpecial(Prompt prompt) {
        return prompt instanceof Prompt.Text text ? new Prompt.Text(text.text(), false, text.parseSpecial()) : prompt;
    }

    /** Ends the answer at the tokens, too, that a model writes behind what it filled in. */
    StopConditions stop(StopConditions asked) {
        if (tokens.isEmpty()) {
            return asked;
        }
        var ends = new HashSet<>(asked.stopTokenIds());
        ends.addAll(tokens.get().ends());
        return new StopConditions(asked.maxTokens(), asked.minTokens(), asked.stopStrings(), ends, asked.ignoreEos());
    }
}
