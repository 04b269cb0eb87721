package roselle.server.kserve;

import java.util.Optional;
import java.util.stream.Stream;

/** The output tensors of a model, as vLLM's backend of Triton has them; most have an element for each answer. */
enum Output {
    TEXT_OUTPUT("text_output", Datatype.BYTES, true),
    FINISH_REASON("finish_reason", Datatype.BYTES, true),
    CUMULATIVE_LOGPROB("cumulative_logprob", Datatype.FP32, true),
    LOGPROBS("logprobs", Datatype.BYTES, true),
    NUM_INPUT_TOKENS("num_input_tokens", Datatype.UINT32, false),
    NUM_OUTPUT_TOKENS("num_output_tokens", Datatype.UINT32, true);

    private final String wireName;
    private final Datatype datatype;
    private final boolean isOfEachAnswer;

    Output(String wireName, Datatype datatype, boolean isOfEachAnswer) {
        this.wireName = wireName;
        this.datatype = datatype;
        this.isOfEachAnswer = isOfEachAnswer;
    }

    static Optional<Output> named(String name) {
        return Stream.of(values())
                .filter(output -> output.wireName.equals(name))
                .findFirst();
    }

    String wireName() {
        return wireName;
    }

    Datatype datatype() {
        return datatype;
    }

    /** -1 for as many elements as there are answers. */
    int dimension() {
        return isOfEachAnswer ? -1 : 1;
    }

    /** The input that asks for it where no outputs are named; the text needs none. */
    Optional<Input> flag() {
        return Input.named("return_" + wireName);
    }
}
