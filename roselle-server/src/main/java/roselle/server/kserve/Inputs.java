package roselle.server.kserve;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.server.http.ApiException;

/** The values of a request's inputs, in whichever form they came. */
final class Inputs {
    private final Map<Input, String> texts = new EnumMap<>(Input.class);
    private final Map<Input, Boolean> flags = new EnumMap<>(Input.class);

    void put(Input input, String text) {
        requireNew(input, texts.put(input, text) == null);
    }

    void put(Input input, boolean flag) {
        requireNew(input, flags.put(input, flag) == null);
    }

    private static void requireNew(Input input, boolean isNew) {
        if (!isNew) {
            throw ApiException.invalid(
                    input.wireName(), input.wireName() + " is there twice, and one may differ: send one of them");
        }
    }

    Optional<String> text(Input input) {
        return Optional.ofNullable(texts.get(input));
    }

    boolean flag(Input input, boolean otherwise) {
        return flags.getOrDefault(input, otherwise);
    }

    /** The text to continue. */
    String prompt() {
        return text(Input.TEXT_INPUT)
                .orElseThrow(() -> ApiException.invalid(
                        Input.TEXT_INPUT.wireName(), "text_input is missing: there must be a text to continue"));
    }

    /** The outputs that flags ask for, and the text. */
    Set<Output> asked() {
        Set<Output> asked = EnumSet.of(Output.TEXT_OUTPUT);
        for (Output output : Output.values()) {
            if (output.flag().filter(input -> flag(input, false)).isPresent()) {
                asked.add(output);
            }
        }
        return asked;
    }

    /** Whether the prompt comes before its continuation, as it does where nothing is said and the answer is whole. */
    boolean tellsPrompt(boolean streams) {
        boolean tells = !flag(Input.EXCLUDE_INPUT_IN_OUTPUT, streams);
        if (tells && streams) {
            throw ApiException.invalid(
                    Input.EXCLUDE_INPUT_IN_OUTPUT.wireName(),
                    "exclude_input_in_output is false: a stream does not tell of its prompt");
        }
        return tells;
    }
}
