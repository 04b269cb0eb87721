package roselle.tokenizer;

/**
 * The parts of a tokenizer, in the order in which a text passes them.
 *
 * @param vocabulary the model's tokens; added tokens may add to it or name tokens of it
 */
record Pipeline(
        AddedTokens added,
        Normalizer normalizer,
        PreTokenizer preTokenizer,
        Model model,
        Vocabulary vocabulary,
        PostProcessor postProcessor,
        Decoder decoder) {}
