package roselle.cli.run;

import roselle.api.GenerationEvent;

/** Prints the events of one request in the form that was asked for. */
sealed interface AnswerOutput permits TextOutput, IdsOutput, JsonOutput {
    void print(GenerationEvent event);
}
