package roselle.engine;

import java.time.Clock;
import java.time.ZoneId;
import java.util.Optional;
import roselle.api.SamplingParameters;
import roselle.checkpoint.Checkpoint;
import roselle.tokenizer.Tokenizer;

/**
 * What an engine knows of a model beside its weights.
 *
 * @param encoder of prompts, with the chat template
 * @param advisedSampling how its makers advise to draw its tokens
 */
record EngineTexts(Tokenizer tokenizer, PromptEncoder encoder, Optional<SamplingParameters> advisedSampling) {
    static EngineTexts of(Checkpoint checkpoint, int vocabulary) {
        Tokenizer tokenizer = checkpoint.hasTokenizer() ? checkpoint.tokenizer() : new NoTokenizer(vocabulary);
        return new EngineTexts(
                tokenizer,
                new PromptEncoder(checkpoint, tokenizer, Clock.system(ZoneId.systemDefault())),
                ModelDefaults.of(checkpoint));
    }
}
