package roselle.server.llamacpp;

import java.util.List;
import roselle.api.GenerationRequestBuilder;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedModel;
import roselle.server.http.JsonFields;
import roselle.server.prompt.FillTokens;

/** Reads two texts as a prompt for what stands between them. */
record InfillSource(AdmittedRequest admitted) implements CompletionReader.Source {
    @Override
    public void read(JsonFields fields, ServedModel model, GenerationRequestBuilder request) {
        String before = fields.requiredString("input_prefix");
        String after = fields.requiredString("input_suffix");
        String begun = fields.string("prompt").orElse("");
        fields.requireDefault("input_extra", "the model hears of no other files", List.of());
        var fill = FillTokens.of(model.engine().tokenizer(), "input_suffix");
        request.prompt(fill.between(FillTokens.plain(before), after, begun, text -> admitted.tokenize(model, text)));
        request.stopTokenIds(fill.ends());
    }
}
