package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.OutputOptions;
import roselle.backend.DeviceOptions;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;

/** What programs are told of a request that is refused: why, and which of its properties is at fault. */
final class RefusalReasonTest {
    private static final int NO_TOKEN = 99_999_999;

    private Engine engine;

    @BeforeEach
    void open() {
        engine = Engine.open(TestConfig.of(Path.of("../roselle-engine/src/test/resources/tiny-models/llama"))
                .with(new DeviceOptions("cpu", 1))
                .with(new CacheOptions("f32", 8L << 20, 16, true))
                .with(new BatchOptions(256, 16, 64, 0, 40)));
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void aPromptOrAnAnswerThatIsTooLongIsToldApart() {
        assertRefused(Reason.CONTEXT_LENGTH, "", request().tokens(new int[engine.context()]));
        assertRefused(Reason.CONTEXT_LENGTH, "", request().maxTokens(engine.context()));
    }

    @Test
    void aTokenThatIsNotThereNamesThePropertyThatHasIt() {
        assertRefused(Reason.OUT_OF_RANGE, "", GenerationRequest.builder().tokens(NO_TOKEN));
        assertRefused(Reason.OUT_OF_RANGE, "stop_token_ids", request().stopTokenIds(Set.of(NO_TOKEN)));
        assertRefused(Reason.OUT_OF_RANGE, "logit_bias", request().logitBias(Map.of(NO_TOKEN, 1f)));
    }

    @Test
    void aValueBeyondItsBoundsNamesItsProperty() {
        assertRefused(Reason.OUT_OF_RANGE, "temperature", request().temperature(-1));
        assertRefused(Reason.OUT_OF_RANGE, "max_tokens", request().maxTokens(0));
        assertRefused(Reason.OUT_OF_RANGE, "stop", request().stopStrings(List.of("")));
    }

    @Test
    void whatContradictsItselfIsInvalid() {
        assertRefused(Reason.INVALID, "min_tokens", request().maxTokens(1).minTokens(2));
        assertThat(catchThrowableOfType(InvalidRequestException.class, () -> new OutputOptions(1, false, 2, false))
                        .field())
                .isEqualTo("top_logprobs");
    }

    @Test
    void aModelWithoutAChatTemplateTakesNoMessages() {
        assertRefused(Reason.UNSUPPORTED, "", GenerationRequest.builder().user("Hi"));
    }

    private static GenerationRequestBuilder request() {
        return GenerationRequest.builder().tokens(5, 6, 7);
    }

    private void assertRefused(Reason reason, String field, GenerationRequestBuilder request) {
        ThrowingCallable submission = () -> engine.submit(request.build()).close();
        InvalidRequestException refused = catchThrowableOfType(InvalidRequestException.class, submission);
        assertThat(refused.reason()).isEqualTo(reason);
        assertThat(refused.field()).isEqualTo(field);
    }
}
