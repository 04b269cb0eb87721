package roselle.server.kserve;

import java.util.Optional;
import java.util.stream.Stream;

/** The input tensors of a model, as vLLM's backend of Triton has them; each has one element. */
enum Input {
    TEXT_INPUT("text_input", Datatype.BYTES),
    STREAM("stream", Datatype.BOOL),
    SAMPLING_PARAMETERS("sampling_parameters", Datatype.BYTES),
    EXCLUDE_INPUT_IN_OUTPUT("exclude_input_in_output", Datatype.BOOL),
    RETURN_FINISH_REASON("return_finish_reason", Datatype.BOOL),
    RETURN_CUMULATIVE_LOGPROB("return_cumulative_logprob", Datatype.BOOL),
    RETURN_LOGPROBS("return_logprobs", Datatype.BOOL),
    RETURN_NUM_INPUT_TOKENS("return_num_input_tokens", Datatype.BOOL),
    RETURN_NUM_OUTPUT_TOKENS("return_num_output_tokens", Datatype.BOOL);

    private final String wireName;
    private final Datatype datatype;

    Input(String wireName, Datatype datatype) {
        this.wireName = wireName;
        this.datatype = datatype;
    }

    static Optional<Input> named(String name) {
        return Stream.of(values()).filter(input -> input.wireName.equals(name)).findFirst();
    }

    String wireName() {
        return wireName;
    }

    Datatype datatype() {
        return datatype;
    }

    boolean isOptional() {
        return this != TEXT_INPUT;
    }
}
