package roselle.server.openai;

import java.util.List;
import java.util.OptionalInt;
import roselle.api.GenerationRequest;
import roselle.api.Prompt;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.openai.common.FormatFields;
import roselle.server.openai.common.GenerationFields;
import roselle.server.prompt.PromptFields;
import roselle.tokenizer.Tokenizer;

/** Reads the body of a completion: each field of the schema is honoured, or refused by name. */
final class CompletionReader {
    /** As OpenAI's API has it; its clients rely on short answers where they ask for no length. */
    private static final int TOKENS_UNASKED = 16;

    private final Models models;

    CompletionReader(Models models) {
        this.models = models;
    }

    /** Reads a request; {@code admitted} counts the tokens of texts that are read for it. */
    CompletionCall read(JsonFields fields, AdmittedRequest admitted) {
        ServedModel model = models.named(fields.string("model"));
        boolean echoes = fields.bool("echo", false);
        var filling = Filling.read(fields, model, admitted, echoes);
        List<Prompt> asked = PromptFields.read(fields, "prompt");
        List<Prompt> prompts = filling.prompts(asked);
        OptionalInt logprobs = fields.integer("logprobs", 0, 20);
        int maxTokens = fields.integer("max_tokens", 0, Integer.MAX_VALUE)
                .orElse(GenerationFields.maxTokens(model, TOKENS_UNASKED));
        var common = new GenerationFields(fields, model);
        var sampling = common.sampling();
        var stop = filling.stop(common.stop(OptionalInt.of(Math.max(1, maxTokens))));
        var output = common.output(logprobs.isPresent(), logprobs.orElse(0), echoes && logprobs.isPresent());
        requireRoom(prompts.size(), output.choices(), model);
        var scheduling = common.scheduling();
        var format = FormatFields.read(fields, model.engine());
        boolean streams = fields.bool("stream", false);
        boolean reportsUsage = StreamOptions.reportsUsage(fields, streams);
        Schema.settle(fields);
        Schema.settleCompletion(fields, output.choices());
        fields.refuseOthers();
        var requests = prompts.stream()
                .map(prompt -> new GenerationRequest(prompt, sampling, stop, output, scheduling, format))
                .toList();
        var texts = echoes ? texts(asked, model.engine().tokenizer()) : List.<String>of();
        return new CompletionCall(model, requests, texts, logprobs.isPresent(), maxTokens == 0, streams, reportsUsage);
    }

    /** Refuses what would find no room in an empty engine either; trying again would not help. */
    private static void requireRoom(int prompts, int choices, ServedModel model) {
        int most = model.engine().maxAnswers();
        if ((long) prompts * choices > most) {
            throw ApiException.invalid(
                    "prompt",
                    "prompt has " + prompts + " entries, each to be answered " + choices
                            + " times: this server has room for " + most + " answers, so send several requests");
        }
    }

    private static List<String> texts(List<Prompt> prompts, Tokenizer tokenizer) {
        return prompts.stream().map(prompt -> text(prompt, tokenizer)).toList();
    }

    private static String text(Prompt prompt, Tokenizer tokenizer) {
        return switch (prompt) {
            case Prompt.Text text -> text.text();
            case Prompt.Tokens tokens -> decoded(tokens, tokenizer);
            case Prompt.Chat _ -> throw new IllegalArgumentException("a completion continues no conversation");
        };
    }

    private static String decoded(Prompt.Tokens tokens, Tokenizer tokenizer) {
        for (int id : tokens.ids()) {
            if (id >= tokenizer.vocabularySize()) {
                throw ApiException.invalid(
                        "prompt",
                        "prompt has token id " + id + ": the model's tokens are 0 to "
                                + (tokenizer.vocabularySize() - 1));
            }
        }
        return tokenizer.decode(
                tokens.ids().stream().mapToInt(Integer::intValue).toArray(), true);
    }
}
