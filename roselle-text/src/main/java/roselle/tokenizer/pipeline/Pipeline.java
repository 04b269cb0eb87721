package roselle.tokenizer.pipeline;

import roselle.tokenizer.decoder.Decoder;
import roselle.tokenizer.decoder.PostProcessor;
import roselle.tokenizer.model.Model;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.normalizer.Normalizer;
import roselle.tokenizer.pretokenizer.PreTokenizer;

/**
 * The parts of a tokenizer, in the order in which a text passes them.
 *
 * @param vocabulary the model's tokens; added tokens may add to it or name tokens of it
 */
public record Pipeline(
        AddedTokens added,
        Normalizer normalizer,
        PreTokenizer preTokenizer,
        Model model,
        Vocabulary vocabulary,
        PostProcessor postProcessor,
        Decoder decoder) {}
