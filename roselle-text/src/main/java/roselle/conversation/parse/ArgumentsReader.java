package roselle.conversation.parse;

import roselle.conversation.parse.CallReader.Result;

/** Reads arguments that are written one by one, and writes them as one JSON object. */
sealed interface ArgumentsReader permits ParametersReader, TagsReader, ValuesReader {
    /** Whether a first argument, or what is behind the last, may begin with this character. */
    boolean begins(char letter);

    /** The tool that is called. */
    void of(String name);

    /** {@code DONE} behind the literal after all arguments, {@code DONE_BEFORE} where something else comes. */
    Result accept(char letter);

    /** What was taken for the beginning of a mark that did not come, behind {@code DONE_BEFORE}. */
    String leftover();

    /** Nothing follows: writes what was held back, and leaves open what the model left open. */
    void finish();
}
